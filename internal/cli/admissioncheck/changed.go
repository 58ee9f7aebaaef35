package admissioncheck

import (
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// RenderChanged renders a job with a change, and returns the options of start-job that make it.
func RenderChanged(t *parse.Template, v values.Values, change remedy.Change) (object map[string]any, made remedy.Rendered, err error) {
	flag := func(name string, value any) { made.Options = append(made.Options, "--"+name, fmt.Sprint(value)) }
	if change.Nodes > 0 {
		v.NodeCount = &change.Nodes
		flag("node-count", change.Nodes)
	}
	if change.InstanceType != "" {
		if change.Resize {
			own, err := render.Objects(t, v)
			if err != nil {
				return nil, made, err
			}
			if err := resize(&v, change.InstanceType, own.Accelerators, flag); err != nil {
				return nil, made, err
			}
		} else {
			flag("instance-type", change.InstanceType)
		}
		v.InstanceType, v.Node = change.InstanceType, nil
	}
	r, err := render.Objects(t, v)
	if err != nil {
		return nil, made, err
	}
	return r.Objects[max(r.Job, 0)], remedy.Rendered{Nodes: r.NodeCount, Options: made.Options}, nil
}

// resize requests the share of a node of the type that goes with the accelerators.
func resize(v *values.Values, name string, accelerators int, flag func(string, any)) error {
	typ, known := instances.Lookup(name)
	if !known || accelerators < 1 || accelerators > typ.Accelerators {
		return fmt.Errorf("%s has no %d accelerators", name, accelerators)
	}
	cpu, memory := typ.Allocatable()
	part := func(n int64) int64 { return n * int64(accelerators) / int64(typ.Accelerators) }
	efa := typ.EFAShare(accelerators)
	v.Accelerators, v.EFA = &accelerators, &efa
	v.VCPU, v.Memory = fmt.Sprint(part(cpu)/1000), fmt.Sprintf("%dGi", part(memory>>30))
	flag("instance-type", name)
	flag("accelerators", accelerators)
	flag("efa", efa)
	flag("vcpu", v.VCPU)
	flag("memory", v.Memory)
	return nil
}
