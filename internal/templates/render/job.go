package render

import (
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// JobLevel returns a setting that only a job can have and that is set, "" if there is none.
func JobLevel(v values.Values) setting.Setting {
	for _, one := range []struct {
		of  setting.Setting
		set bool
	}{
		{setting.Image, v.Image != ""}, {setting.InstanceType, v.InstanceType != ""}, {setting.NodeCount, v.NodeCount != nil},
		{setting.TasksPerNode, v.TasksPerNode != nil}, {setting.Accelerators, v.Accelerators != nil}, {setting.Command, v.Command != ""},
		{setting.EntryScript, v.EntryScript != ""}, {setting.ScriptArgs, len(v.ScriptArgs) > 0}, {setting.Environment, len(v.Environment) > 0},
		{setting.Volumes, len(v.Volumes) > 0}, {setting.RestartPolicy, v.RestartPolicy != ""}, {setting.AutoResume, v.AutoResume},
	} {
		if one.set {
			return one.of
		}
	}
	return ""
}

// pickJob finds the one job among the objects.
func pickJob(s *resolve.Plan, objects []map[string]any) (*jobobject.View, int, error) {
	job, at, all := jobobject.Main(objects)
	if len(all) > 1 {
		var found []string
		for _, i := range all {
			found = append(found, manifest.TextOf(objects[i]["kind"])+" "+manifest.TextOf(jobobject.Inner(objects[i], "metadata")["name"]))
		}
		return nil, -1, errs.Usagef("the manifest has %d jobs: start one at a time", len(found)).WithFact("jobs", words.Some(found, 8)).
			WithAdvice("write one file for each job")
	}
	if job == nil {
		if flag := JobLevel(s.Values); flag != "" {
			return nil, -1, errs.Usagef("%s requires a job: the manifest has none", flag)
		}
		if s.Name != "" {
			if len(objects) > 1 {
				return nil, -1, errs.Usagef("%s requires a job: the manifest has %d objects and no job", setting.Name, len(objects))
			}
			jobobject.Child(objects[0], "metadata")["name"] = s.Name
		}
	}
	return job, at, nil
}
