package simulate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
)

// Changes at a later time meet the jobs that run then: those of a known end are gone, and
// others have started in their place.
func TestAtLater(t *testing.T) {
	at := func(d, assume time.Duration, changes ...simulate.Change) *simulate.Report {
		r, err := simulate.Run(context.Background(), world(t, "lend-three.yaml"), changes,
			simulate.Options{Ahead: &simulate.Ahead{At: noon.Add(d), Assume: assume}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		name       string
		in, assume time.Duration
		changes    []simulate.Change
		want       string
	}{
		{"nothing has a known end", 2 * time.Hour, 0, []simulate.Change{addJob("b", "new", 8)}, "0 ended, 1 started, 3 without end; new: - > Waiting WaitingForQuota"},
		{"some have ended", 3 * time.Hour, 4 * time.Hour, []simulate.Change{addJob("b", "new", 8)}, "2 ended, 1 started, 0 without end; new: - > Waiting WaitingForQuota"},
		{"those that run longer than assumed", 3 * time.Hour, time.Hour, nil, "1 ended, 1 started, 2 without end"},
		{"all have ended", 48 * time.Hour, 4 * time.Hour, []simulate.Change{addJob("b", "new", 8)}, "3 ended, 1 started, 0 without end; new: - > Admitted 8/3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := at(c.in, c.assume, c.changes...)
			got := strings.TrimSuffix(fmt.Sprintf("%d ended, %d started, %d without end; %s", len(r.Later.Ended), len(r.Later.Started), len(r.Later.NoEnd), short(r)), "; ")
			if got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if !r.Time.Equal(noon.Add(c.in)) {
				t.Errorf("time %s", r.Time)
			}
		})
	}
}
