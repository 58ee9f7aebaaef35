package values

import (
	"maps"
	"path"
	"slices"
)

// Over returns base with the values of v on top, as flags override a configuration file. Environment, labels
// and annotations are merged by key, volumes by name and mount path. It changes neither.
func (v Values) Over(base Values) Values {
	out := v
	text(&out.Name, base.Name)
	text(&out.Namespace, base.Namespace)
	text(&out.Image, base.Image)
	text(&out.PullPolicy, base.PullPolicy)
	text(&out.InstanceType, base.InstanceType)
	text(&out.VCPU, base.VCPU)
	text(&out.Memory, base.Memory)
	text(&out.VCPULimit, base.VCPULimit)
	text(&out.MemoryLimit, base.MemoryLimit)
	text(&out.Command, base.Command)
	text(&out.EntryScript, base.EntryScript)
	text(&out.Rendezvous.Backend, base.Rendezvous.Backend)
	text(&out.Rendezvous.Endpoint, base.Rendezvous.Endpoint)
	text(&out.ResultsDir, base.ResultsDir)
	text(&out.ServiceAccount, base.ServiceAccount)
	text(&out.PodPriorityClass, base.PodPriorityClass)
	text(&out.RestartPolicy, base.RestartPolicy)
	text(&out.Queue, base.Queue)
	out.QueueChosen = out.QueueChosen || base.QueueChosen
	text(&out.Priority, base.Priority)
	text(&out.RunPolicy.CleanPodPolicy, base.RunPolicy.CleanPodPolicy)
	if v.TasksPerNode == nil && v.TasksBy == "" {
		out.TasksPerNode, out.TasksBy = base.TasksPerNode, base.TasksBy
	}
	if v.Accelerators == nil && v.Partition == "" {
		out.Accelerators, out.Partition = base.Accelerators, base.Partition
		pick(&out.PartitionCount, base.PartitionCount)
	}
	if v.RequiredTopology == "" && v.PreferredTopology == "" {
		out.RequiredTopology, out.PreferredTopology = base.RequiredTopology, base.PreferredTopology
	}
	pick(&out.Node, base.Node)
	pick(&out.NodeCount, base.NodeCount)
	pick(&out.EFA, base.EFA)
	pick(&out.HealthAffinity, base.HealthAffinity)
	pick(&out.MaxRetry, base.MaxRetry)
	pick(&out.RunPolicy.TTL, base.RunPolicy.TTL)
	pick(&out.RunPolicy.Deadline, base.RunPolicy.Deadline)
	pick(&out.RunPolicy.Backoff, base.RunPolicy.Backoff)
	out.Elastic = v.Elastic.over(base.Elastic)
	out.DeepHealthOnly = v.DeepHealthOnly || base.DeepHealthOnly
	out.AutoResume = v.AutoResume || base.AutoResume
	list(&out.ScriptArgs, base.ScriptArgs)
	list(&out.PreScript, base.PreScript)
	list(&out.PostScript, base.PostScript)
	list(&out.Tolerations, base.Tolerations)
	if v.LabelSelector.Empty() {
		out.LabelSelector = base.LabelSelector
	}
	out.Environment, out.SecretEnv = mergedEnvironment(v, base)
	out.Labels = merged(v.Labels, base.Labels)
	out.Annotations = merged(v.Annotations, base.Annotations)
	out.Params = merged(v.Params, base.Params)
	list(&out.AllowUnset, base.AllowUnset)
	list(&out.Swept, base.Swept)
	out.Set = append(slices.Clone(base.Set), v.Set...)
	out.Volumes = mergedVolumes(v.Volumes, base.Volumes)
	return out
}

func text(have *string, base string) {
	if *have == "" {
		*have = base
	}
}

func pick[T any](have **T, base *T) {
	if *have == nil {
		*have = base
	}
}

func list[T any](have *[]T, base []T) {
	if len(*have) == 0 {
		*have = base
	}
}

func merged[V any](over, base map[string]V) map[string]V {
	if len(over)+len(base) == 0 {
		return nil
	}
	out := maps.Clone(base)
	if out == nil {
		out = map[string]V{}
	}
	maps.Copy(out, over)
	return out
}

func (e Elastic) over(base Elastic) Elastic {
	pick(&e.Min, base.Min)
	pick(&e.Max, base.Max)
	if e.Step == nil && len(e.Sizes) == 0 {
		e.Step, e.Sizes = base.Step, base.Sizes
	}
	pick(&e.ScalingTimeout, base.ScalingTimeout)
	pick(&e.ShutdownTimeout, base.ShutdownTimeout)
	pick(&e.ScaleUpSnooze, base.ScaleUpSnooze)
	return e
}

// mergedEnvironment keeps a variable's last source, plain or secret.
func mergedEnvironment(v, base Values) (map[string]string, []SecretEnv) {
	env := merged(v.Environment, base.Environment)
	var secrets []SecretEnv
	for _, e := range base.SecretEnv {
		_, plain := v.Environment[e.Name]
		again := slices.ContainsFunc(v.SecretEnv, func(o SecretEnv) bool { return o.Name == e.Name && (e.Name != "" || o.Secret == e.Secret) })
		if !again && (e.Name == "" || !plain) {
			secrets = append(secrets, e)
		}
	}
	for _, e := range v.SecretEnv {
		delete(env, e.Name)
		if _, twice := v.Environment[e.Name]; twice {
			env[e.Name] = v.Environment[e.Name] // set twice in one place, which is refused later
		}
		secrets = append(secrets, e)
	}
	return env, secrets
}

func mergedVolumes(over, base []Volume) []Volume {
	var out []Volume
	for _, b := range base {
		replaced := slices.ContainsFunc(over, func(o Volume) bool {
			return o.VolumeName() == b.VolumeName() || path.Clean(o.MountPath) == path.Clean(b.MountPath)
		})
		if !replaced {
			out = append(out, b)
		}
	}
	return append(out, over...)
}
