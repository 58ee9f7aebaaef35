package getclusters

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// TestWatchPrintsChanges: the clusters are read with every tick, a read that fails is one
// warning, and only what changed is printed.
func TestWatchPrintsChanges(t *testing.T) {
	for name, tt := range map[string]struct {
		format string
		group  bool
		want   []string
	}{
		"table":   {"table", false, []string{"lab      Creating  -                  0", "done     InService", "lab      InService"}},
		"json":    {"json", false, []string{`{"Type":"ADDED","Cluster":"lab",`, `"ClusterStatus":"Creating"`, `{"Type":"MODIFIED","Cluster":"lab",`, `{"Type":"ADDED","Cluster":"done","InstanceType":"ml.g5.8xlarge"`}},
		"grouped": {"json", true, []string{`{"Type":"ADDED","Cluster":"lab","Instances":[{`, `{"Type":"ADDED","Cluster":"done","Instances":[{"InstanceType":"ml.g5.8xlarge"`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := fake.ForTest(t, fake.Options{})
			s.AddCluster(fake.Spec{Name: "lab", Status: "Creating", Then: []string{"Creating", "Creating", "InService"}})
			io, b := output.Test()
			tick := make(chan time.Time)
			go func() {
				defer close(tick)
				tick <- time.Time{} // the first answer is shown
				for range 2 {
					s.Fail(fake.Fault{Operation: "ListClusters", Status: 400, Code: "AccessDeniedException", Message: "no", Times: 1})
					tick <- time.Time{}
				}
				s.AddCluster(fake.Spec{Name: "done", Groups: []fake.GroupSpec{{Name: "g", InstanceType: "ml.g5.8xlarge", Nodes: []fake.NodeSpec{{ID: "i-0aaaaaaaaaaaaaaa1"}}}}})
				for range 4 {
					tick <- time.Time{}
				}
			}()
			o := &Options{Factory: &factory.Factory{IO: io, Env: os.Getenv, Now: time.Now}, Orchestrator: all, Group: tt.group, Watch: true, Tick: tick}
			o.Factory.Global.Output = tt.format
			if err := Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			for _, part := range tt.want {
				if strings.Count(b.Out.String(), part) != 1 {
					t.Errorf("%q:\n%s", part, b.Out)
				}
			}
			if n := strings.Count(b.Err.String(), "warning: cannot list clusters: access denied"); n != 1 {
				t.Errorf("%d warnings:\n%s", n, b.Err)
			}
		})
	}
}

// TestWatchEnds: the first list must succeed, and only tables and JSON can be watched.
func TestWatchEnds(t *testing.T) {
	s := fake.ForTest(t, fake.Options{})
	s.Fail(fake.Fault{Operation: "ListClusters", Status: 400, Code: "AccessDeniedException", Message: "no"})
	for format, want := range map[string]string{"table": "cannot list clusters: access denied", "name": "--watch"} {
		io, _ := output.Test()
		o := &Options{Factory: &factory.Factory{IO: io, Env: os.Getenv, Now: time.Now}, Orchestrator: all, Watch: true, Tick: make(chan time.Time)}
		o.Factory.Global.Output = format
		if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", format, err)
		}
	}
}
