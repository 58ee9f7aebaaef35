package factory

import (
	"strings"
	"testing"
	"time"
)

// TestRunArgs: another run has the cluster and the limits of this one.
func TestRunArgs(t *testing.T) {
	for want, g := range map[string]Global{
		"--request-timeout=0s":           {Quiet: true, Namespace: "a"},
		"--sandbox --request-timeout=2s": {Sandbox: DefaultSandbox, Timeout: 2 * time.Second},
		"--context=prod --kubeconfig=/k --request-timeout=1m0s --scheduler=slurm": {Context: "prod", Kubeconfig: "/k", Timeout: time.Minute, Scheduler: "slurm"},
		"--request-timeout=0s --snapshot=s.json --max-age=1h0m0s":                 {Snapshot: "s.json", MaxAge: time.Hour},
	} {
		if got := strings.Join((&Factory{Global: g}).RunArgs(), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
