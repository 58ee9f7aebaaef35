package startjob

import (
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// values turns the flags into the values that are laid over the template. What
// the cluster decides - namespace, queue, priority - is not in them yet.
func (o *Options) values() (values.Values, error) {
	v := values.Values{
		Name: o.Name, Image: o.Image, PullPolicy: o.PullPolicy, InstanceType: o.InstanceType,
		VCPU: o.VCPU, Memory: o.Memory, VCPULimit: o.VCPULimit, MemoryLimit: o.MemoryLimit, Partition: o.Partition, Command: o.Command, EntryScript: o.EntryScript,
		PreScript: o.PreScript, PostScript: o.PostScript, DeepHealthOnly: o.DeepHealthOnly,
		ServiceAccount: o.ServiceAccount, RestartPolicy: o.RestartPolicy, AutoResume: o.AutoResume,
		NodeCount:      o.given("node-count", o.NodeCount),
		Accelerators:   o.given("accelerators", o.Accelerators),
		EFA:            o.given("efa", o.EFA),
		PartitionCount: o.given("accelerator-partition-count", o.PartitionCount),
		MaxRetry:       o.given("max-retry", o.MaxRetry),
	}
	var err error
	read := func(f func() error) {
		if err == nil {
			err = f()
		}
	}
	read(func() (e error) { v.ScriptArgs, e = shellwords.Split(o.ScriptArgs); return e })
	read(func() (e error) { v.Environment, e = values.ParseEnvironment(o.Environment); return e })
	read(func() (e error) { v.Labels, e = values.ParsePairs("label", o.Labels); return e })
	read(func() (e error) { v.Annotations, e = values.ParsePairs("annotation", o.Annotations); return e })
	read(func() (e error) { v.Set, e = values.ParseAssignments(o.Set); return e })
	read(func() (e error) { v.Volumes, e = values.ParseVolumes(o.Volumes, o.PersistentVolumeClaims); return e })
	for _, c := range [][2]string{{kinds.QueueLabel, "--queue-name"}, {kinds.PriorityLabel, "--priority"}} {
		label, flag := c[0], c[1]
		if _, given := v.Labels[label]; given {
			return v, errs.Usagef("the label %s is set by %s", label, flag).WithTry(flag + " " + v.Labels[label])
		}
	}
	if o.LabelSelector != "" {
		read(func() (e error) { v.LabelSelector, e = values.ParseSelector(o.LabelSelector); return e })
	}
	read(func() error { return o.layPolicy(&v) })
	return o.overFile(v), err
}

func (o *Options) given(flag string, n int) *int {
	if o.changed == nil || !o.changed(flag) {
		return nil
	}
	return values.Int(n)
}
