package listclusterevents

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// TestFollowPrintsEachEventOnce: events of the same second come with several answers.
func TestFollowPrintsEachEventOnce(t *testing.T) {
	s := fake.ForTest(t, fake.Options{})
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.AddCluster(fake.Spec{Name: "ml", Events: []fake.Event{{Time: at, Level: "Info", Describe: "one"}, {Time: at, Level: "Info", Describe: "two", Group: "gpu"}}})
	io, b := output.Test()
	tick := make(chan time.Time)
	go func() {
		defer close(tick)
		tick <- at // the first answer is printed
		tick <- at // and so is the second
		s.AddEvent("ml", fake.Event{Time: at, Level: "Warn", Describe: "three", Instance: "i-1"})
		tick <- at
	}()
	o := &Options{Factory: &factory.Factory{IO: io, Env: os.Getenv, Now: time.Now}, OneCluster: factory.OneCluster{Cluster: "ml"}, Follow: true, Tick: tick}
	o.Factory.Global.Output = "table"
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"cluster  one", "gpu  two", "2026-01-02T03:04:05Z  Warn  i-1  three"} {
		if strings.Count(b.Out.String(), part) != 1 {
			t.Errorf("%q:\n%s", part, b.Out)
		}
	}
}
