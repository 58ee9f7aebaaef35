package render

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
)

// jobLevel names a value that only a job can take, "" when none is set.
func jobLevel(s *resolve.Plan) string {
	v := s.Values
	for _, said := range []struct {
		flag string
		set  bool
	}{
		{"--image", v.Image != ""}, {"--instance-type", v.InstanceType != ""}, {"--node-count", v.NodeCount != nil},
		{"--tasks-per-node", v.TasksPerNode != nil}, {"--accelerators", v.Accelerators != nil}, {"--command", v.Command != ""},
		{"--entry-script", v.EntryScript != ""}, {"--script-args", len(v.ScriptArgs) > 0}, {"--environment", len(v.Environment) > 0},
		{"--volumes", len(v.Volumes) > 0}, {"--restart-policy", v.RestartPolicy != ""}, {"--auto-resume", v.AutoResume},
	} {
		if said.set {
			return said.flag
		}
	}
	return ""
}

// pickJob finds the one job among the objects.
func pickJob(s *resolve.Plan, objects []map[string]any) (*jobobject.View, int, error) {
	var job *jobobject.View
	at, found := -1, []string{}
	for i, o := range objects {
		if view, ok := jobobject.Of(o); ok {
			found = append(found, manifest.TextOf(o["kind"])+" "+manifest.TextOf(jobobject.Inner(o, "metadata")["name"]))
			if job == nil {
				job, at = view, i
			}
		}
	}
	if len(found) > 1 {
		return nil, -1, errs.Usagef("the manifest holds %d jobs, and one can be started at a time", len(found)).WithFact("jobs", strings.Join(found, ", ")).
			WithAdvice("make a file for each of them")
	}
	if job == nil {
		if flag := jobLevel(s); flag != "" {
			return nil, -1, errs.Usagef("%s needs a job to be laid over, and the manifest holds none", flag)
		}
		if s.Name != "" {
			if len(objects) > 1 {
				return nil, -1, errs.Usagef("--name needs a job, and the manifest holds %d objects without one", len(objects))
			}
			jobobject.Child(objects[0], "metadata")["name"] = s.Name
		}
	}
	return job, at, nil
}
