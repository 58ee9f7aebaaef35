package integration

import (
	"errors"
	"strings"
	"testing"
)

// TestValidate: what Kueue's webhooks refuse is refused before it is sent.
func TestValidate(t *testing.T) {
	ray := func(more string) string {
		return `{"shutdownAfterJobFinishes":true,"entrypoint":"x","rayClusterSpec":{` + more + `"headGroupSpec":{"rayStartParams":{},"template":` + template(0) + `}}}`
	}
	topology := `{"replicatedJobs":[{"name":"w","template":{"spec":{"template":{"metadata":{"annotations":{"kueue.x-k8s.io/podset-required-topology":"rack","kueue.x-k8s.io/podset-preferred-topology":"rack"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}}]}`
	for _, c := range []struct{ name, kind, spec, want string }{
		{"a RayJob", "RayJob", ray(""), ""},
		{"a RayJob that leaves its cluster", "RayJob", strings.Replace(ray(""), "true", "false", 1), "shutdownAfterJobFinishes"},
		{"a RayJob with an autoscaler", "RayJob", ray(`"enableInTreeAutoscaling":true,`), "enableInTreeAutoscaling"},
		{"a RayJob without a cluster", "RayJob", `{"entrypoint":"x"}`, "rayClusterSpec is required"},
		{"a RayJob on another cluster", "RayJob", `{"entrypoint":"x","clusterSelector":{"ray.io/cluster":"c"}}`, ""},
		{"a RayCluster with an autoscaler", "RayCluster", `{"enableInTreeAutoscaling":true,"headGroupSpec":{"rayStartParams":{},"template":` + template(0) + `}}`, "enableInTreeAutoscaling"},
		{"a JobSet with two topologies", "JobSet", topology, "podset"},
	} {
		t.Run(c.name, func(t *testing.T) {
			version := "ray.io/v1"
			if c.kind == "JobSet" {
				version = "jobset.x-k8s.io/v1alpha2"
			}
			err := Validate(t.Context(), manifest(c.kind, version, c.spec))
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	for _, m := range manifests {
		spec := m.spec
		if m.kind == "RayJob" {
			spec = strings.Replace(spec, "{", `{"shutdownAfterJobFinishes":true,`, 1)
		}
		if err := Validate(t.Context(), manifest(m.kind, m.apiVersion, spec)); err != nil {
			t.Errorf("%s: %v", m.kind, err)
		}
	}
}

// TestRayDefaults: the pods of a RayJob are those that the API server's defaults make: a
// pod that submits it, and no workers where a group gives no number.
func TestRayDefaults(t *testing.T) {
	spec := `{"entrypoint":"x","shutdownAfterJobFinishes":true,"rayClusterSpec":{"headGroupSpec":{"rayStartParams":{},"template":` + template(0) + `},"workerGroupSpecs":[{"groupName":"gpu","rayStartParams":{},"template":` + template(4) + `}]}}`
	w, err := WorkloadFor(t.Context(), manifest("RayJob", "ray.io/v1", spec), testLookup())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int32{}
	for _, ps := range w.Spec.PodSets {
		got[string(ps.Name)] = ps.Count
	}
	if len(got) != 3 || got["head"] != 1 || got["gpu"] != 0 || got["submitter"] != 1 {
		t.Errorf("%v", got)
	}
	_, err = WorkloadFor(t.Context(), manifest("RayJob", "ray.io/v1", `{"entrypoint":"x","clusterSelector":{"ray.io/cluster":"c"}}`), testLookup())
	if !errors.Is(err, ErrNotManaged) {
		t.Error(err)
	}
}
