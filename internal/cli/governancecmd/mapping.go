package governancecmd

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

// mappingFlags choose how terms become Kueue objects where the service's way is not
// documented.
type mappingFlags struct{ cohort, ownCohort, round string }

func newMapping() mappingFlags {
	m := policy.DefaultMapping()
	return mappingFlags{m.Cohort, m.OwnCohort, m.Round}
}

func (m *mappingFlags) add(f *factory.Factory, cmd *cobra.Command) {
	fs := cmd.Flags()
	name := func(s string) bool { return len(validation.IsDNS1123Subdomain(s)) == 0 }
	factory.AddText(fs, &m.cohort, factory.Text{Name: "cohort", Usage: "cohort of the teams that share quota",
		Must: "must be a name: lower-case letters, digits, - and ., a letter or digit at both ends, at most 253", Fits: name})
	factory.AddText(fs, &m.ownCohort, factory.Text{Name: "own-cohort-prefix", Usage: "prefix of the cohort of a team with strategy DontLend",
		Must: "must begin a name: lower-case letters, digits, - and ., a letter or digit at the start, at most 190", // 63 are the team's
		Fits: func(s string) bool { return name(s + strings.Repeat("x", validation.DNS1123LabelMaxLength)) }})
	f.CompleteFlag(cmd, "cohort", factory.Cohorts)
	factory.AddChoice(cmd, &m.round, factory.Choice{Name: "round", Usage: "how to round a percentage to whole devices: Down|Up|Nearest",
		Words: []string{policy.Down, policy.Up, policy.Nearest}})
}

func (m *mappingFlags) mapping() policy.Mapping {
	return policy.Mapping{Cohort: m.cohort, OwnCohort: m.ownCohort, Round: m.round}
}

// mappingArgs returns the flags that choose a mapping, for suggested commands.
func mappingArgs(m policy.Mapping) []string {
	var args []string
	usual := policy.DefaultMapping()
	for _, flag := range []struct{ name, value, usual string }{
		{"--cohort", m.Cohort, usual.Cohort}, {"--own-cohort-prefix", m.OwnCohort, usual.OwnCohort}, {"--round", m.Round, usual.Round},
	} {
		if flag.value != flag.usual {
			args = append(args, flag.name, flag.value)
		}
	}
	return args
}
