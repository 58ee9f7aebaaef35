// Package audittext words the findings of governance audits.
package audittext

import (
	"fmt"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Fill sets the messages of findings.
func Fill(found []audit.Finding) {
	for i := range found {
		if found[i].Message == "" {
			found[i].Message = message(found[i])
		}
	}
}

func message(f audit.Finding) string {
	amount := words.Amount(f.Resource, f.Amount)
	switch f.Code {
	case audit.Starved:
		text := fmt.Sprintf("team %s waits for %s (%s, %s%s)", f.Team, amount, words.Count(f.Jobs, "job", "jobs"), f.Job, since(" for ", f.Seconds))
		var held []string
		for _, h := range f.Holders {
			held = append(held, fmt.Sprintf("%s borrows %s", h.Team, words.Number(f.Resource, h.Amount)))
		}
		if len(held) > 0 {
			text += "; " + words.SomeOf(held, f.HoldersTotal, 4)
		}
		return text
	case audit.Idle:
		return idle([]audit.Finding{f})
	case audit.Borrowing:
		return fmt.Sprintf("team %s uses %s beyond its quota, lent by others", f.Team, amount)
	case audit.Overcommitted:
		return fmt.Sprintf("team %s uses %s beyond its quota, which nobody lends", f.Team, amount)
	case audit.AboveLimit:
		who := "team " + f.Team + " uses"
		if f.Cohort != "" {
			who = "the members of cohort " + f.Cohort + " use"
		}
		return fmt.Sprintf("%s %s of %s, and the limit is %s", who, amount, f.Flavor, words.Number(f.Resource, *f.Limit))
	case audit.OverCapacity:
		return fmt.Sprintf("the quota of all teams for %s is %s, and its healthy nodes have %s", f.Flavor, amount, words.Number(f.Resource, *f.Limit))
	case audit.NeverRuns:
		return fmt.Sprintf("%s of team %s can never run, for example %s%s", words.Count(f.Jobs, "job", "jobs"), f.Team, f.Job, since(", pending for ", f.Seconds))
	case audit.QueueMissing:
		return fmt.Sprintf("%s in %s, which does not exist, for example %s%s", words.Count(f.Jobs, "job waits", "jobs wait"), f.Name, f.Job, since(", pending for ", f.Seconds))
	case audit.CannotReclaim:
		return fmt.Sprintf("team %s has lent %s and cannot reclaim it: its reclaimWithinCohort is Never", f.Team, amount)
	case audit.UnusedPriority:
		return fmt.Sprintf("no workload has priority class %s", f.Name)
	case audit.Drift:
		switch {
		case f.ChangedBy != "" && f.ChangedAt != nil:
			return fmt.Sprintf("%s; last changed by %s at %s", f.Name, f.ChangedBy, f.ChangedAt.UTC().Format(time.RFC3339))
		case f.ChangedBy != "":
			return fmt.Sprintf("%s; last changed by %s", f.Name, f.ChangedBy)
		}
		return f.Name
	}
	return string(f.Code)
}

// idle words quota that is idle in teams for the same reason while another one waits.
func idle(group []audit.Finding) string {
	f, teams, sum := group[0], []string{}, 0.0
	for _, g := range group {
		teams, sum = append(teams, g.Team), sum+g.Amount
	}
	why := keeps(f)
	if len(group) > 1 && f.Setting == audit.LendingLimit {
		why = "the lendingLimit of each is reached"
	}
	return fmt.Sprintf("%s idle in %s %s (%s) while team %s waits: %s", words.Amount(f.Resource, sum), words.Verb(len(teams), "team", "teams"),
		words.Some(teams, len(teams)), f.Flavor, f.For, why)
}

// together reports whether idle quota of two teams has one reason.
func together(f, g audit.Finding) bool {
	return f.Code == audit.Idle && g.Code == audit.Idle && f.For == g.For && f.Resource == g.Resource && f.Flavor == g.Flavor && f.Setting == g.Setting &&
		(f.SettingOf == g.SettingOf || f.Setting == audit.LendingLimit)
}

// keeps returns why idle quota is not used.
func keeps(f audit.Finding) string {
	switch f.Setting {
	case audit.CohortName:
		return fmt.Sprintf("the teams share no cohort (cohortName of %s)", f.SettingOf)
	case audit.LendingLimit:
		return fmt.Sprintf("the lendingLimit of %s is reached", f.SettingOf)
	case audit.BorrowingLimit:
		return fmt.Sprintf("the borrowingLimit of %s is reached", f.SettingOf)
	case audit.FlavorMissing:
		return fmt.Sprintf("team %s has no quota of this flavor", f.SettingOf)
	case audit.NodeSelector:
		return fmt.Sprintf("the jobs of %s select other nodes", f.SettingOf)
	case audit.NotQuota:
		return fmt.Sprintf("there is enough quota; %s waits for another reason (see explain-job)", f.Job)
	case audit.StopPolicy:
		return fmt.Sprintf("team %s is stopped", f.SettingOf)
	}
	return fmt.Sprintf("the jobs of %s need more than the idle quota", f.SettingOf)
}

// since words how long a job has waited, after a label; "" is unknown.
func since(label string, seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return label + words.Age(time.Duration(seconds)*time.Second)
}

// Summary returns the first line: the answer.
func Summary(found []audit.Finding) string {
	n := map[audit.Code]int{}
	for _, f := range found {
		n[f.Code]++
	}
	lost := 0
	for _, f := range found {
		if f.Code == audit.QueueMissing {
			lost += f.Jobs
		}
	}
	text := "no team waits for quota"
	if n[audit.Starved] > 0 {
		text = words.Count(n[audit.Starved], "team waits", "teams wait") + " for quota"
		if n[audit.Idle] > 0 {
			text += " while quota is idle"
		}
	}
	if n[audit.NeverRuns] > 0 {
		text += "; jobs of " + words.Count(n[audit.NeverRuns], "team", "teams") + " can never run"
	}
	if lost > 0 {
		text += "; " + words.Count(lost, "job waits", "jobs wait") + " in a queue that does not exist"
	}
	return text
}
