package present_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/doctor"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/present/doctortext"
)

func TestFill(t *testing.T) {
	refused := errs.New("cannot reach the API server", "connection refused").WithAdvice("check the address").Suggest(errs.Run("config", "view"))
	for _, c := range []struct {
		d    doctor.Diagnosis
		want string
	}{
		{doctor.Diagnosis{Code: doctor.Clock, Status: doctor.Fail, Reason: doctor.Skewed, Took: -10 * time.Minute}, "this machine's clock is 10m behind the server's | set the clock (NTP): ages are wrong, and AWS refuses requests that are 5 minutes off | "},
		{doctor.Diagnosis{Code: doctor.Connection, Status: doctor.Fail, Reason: doctor.Failed, Err: refused}, "cannot reach the API server: connection refused | check the address | hyperpod config view"},
		{doctor.Diagnosis{Code: doctor.Nodes, Status: doctor.Skipped, Reason: doctor.NoPermission}, "not examined: you need permission to list nodes |  | "},
		{doctor.Diagnosis{Code: doctor.Queues, Status: doctor.Warn, Reason: doctor.NotActive, Count: 1, Of: 3, Names: []string{"a"}}, "1 of 3 queues is not active: a |  | hyperpod get-quota   # shows the reason"},
		{doctor.Diagnosis{Code: doctor.Queues, Status: doctor.Warn, Reason: doctor.NotActive, Count: 9, Of: 1000, Names: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}}, "9 of 1000 queues are not active: a, b, c, d, e, f and 3 more |  | hyperpod get-quota   # shows the reason"},
		{doctor.Diagnosis{Code: doctor.Rules, Status: doctor.Warn, Reason: doctor.Differs, Version: "v0.10.0", Names: []string{"IdleReclaim", "FairTies", "ShareRounding", "NodeAffinity", "PastUse", "NominalFirst", "WithinNominal", "FlavorScan"}}, "the cluster runs Kueue v0.10.0: verdicts follow the rules of v0.19.2; decisions may differ on reclaiming quota under reclaimWithinCohort: Any, preemption between equal shares, rounding of shares, node affinity in topologies, admission fair sharing, which is off by default, the turn of jobs within nominal quota under fair sharing and 2 more | use a version of hyperpod with the cluster's rules if one of these matters | "},
	} {
		list := []doctor.Diagnosis{c.d}
		doctortext.Fill(list, errs.Suggestion.String)
		if got := strings.Join([]string{list[0].Message, list[0].Advice, list[0].Try}, " | "); got != c.want {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
}

// TestLacking: a table names -o wide only where that shows more.
func TestLacking(t *testing.T) {
	d := doctor.Document{CommandPermissions: []doctor.CommandPermissions{{Command: "get-quota", MissingPermissions: []string{"list clusterqueues"}}, {Command: "list-jobs", Allowed: true}}}
	if got := doctortext.Lacking(d, true); !slices.Equal(got, []string{"get-quota lacks list clusterqueues"}) {
		t.Errorf("-o wide: %q", got)
	}
	if got := doctortext.Lacking(d, false); !slices.Equal(got, []string{"missing permissions of commands: see -o wide"}) {
		t.Errorf("table: %q", got)
	}
	if got := doctortext.Lacking(doctor.Document{}, false); len(got) > 0 {
		t.Errorf("nothing is missing: %q", got)
	}
}
