package workers

import (
	"maps"
	"testing"
	"time"
)

// TestDelays: Kueue's incremental dispatcher adds some workers every five minutes, all at once adds all.
func TestDelays(t *testing.T) {
	const incremental = "multiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental"
	names := []string{"d", "c", "b", "a"}
	for name, c := range map[string]struct {
		configuration string
		gates         map[string]bool
		sent          []string
		want          map[string]time.Duration
	}{
		"no configuration": {},
		"all at once":      {configuration: "multiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-all-at-once}"},
		"not YAML":         {configuration: ": ["},
		"three at a time":  {configuration: incremental + "}", want: map[string]time.Duration{"d": 0, "c": 0, "b": 0, "a": 5 * time.Minute}},
		"by name":          {configuration: incremental + "}", gates: map[string]bool{"MultiKueueIncrementalDispatcherRespectConfigOrder": false}, want: map[string]time.Duration{"a": 0, "b": 0, "c": 0, "d": 5 * time.Minute}},
		"one at a time":    {configuration: incremental + ", incrementalDispatcherConfig: {stepSize: 1}}", want: map[string]time.Duration{"d": 0, "c": 5 * time.Minute, "b": 10 * time.Minute, "a": 15 * time.Minute}},
		"step not allowed": {configuration: incremental + ", incrementalDispatcherConfig: {stepSize: 1}}", gates: map[string]bool{"MultiKueueIncrementalDispatcherConfig": false}, want: map[string]time.Duration{"d": 0, "c": 0, "b": 0, "a": 5 * time.Minute}},
		"second round":     {configuration: incremental + ", incrementalDispatcherConfig: {stepSize: 2}}", sent: []string{"d", "c"}, want: map[string]time.Duration{"b": 5 * time.Minute, "a": 5 * time.Minute}},
	} {
		if got := DispatcherOf(c.configuration, c.gates).Delays(names, c.sent); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if d := DispatcherOf("multiKueue: {dispatcherName: example.com/mine}", nil); d.External != "example.com/mine" {
		t.Errorf("%+v", d)
	}
}
