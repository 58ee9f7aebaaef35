package validate

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
)

// checkFits compares what the pods ask for with what a node of the type leaves.
func (f *Faults) checkFits(s *resolve.Plan, j *jobobject.View) {
	if !s.HasType || s.Type.VCPU == 0 {
		return
	}
	cpu, memory := s.Allocatable()
	for _, r := range j.Roles() {
		if !r.Trains {
			continue
		}
		c := jobobject.Container(r.Pod())
		containers, _ := r.Pod()["containers"].([]any)
		i := slices.IndexFunc(containers, func(item any) bool { m, _ := item.(map[string]any); return m["name"] == c["name"] })
		at := manifest.Location{Path: manifest.JoinPath(r.PodAt, "containers")}.Item(max(i, 0)).Path + ".resources.requests"
		requests := jobobject.Inner(c, "resources", "requests")
		for _, want := range []struct {
			name        string
			total, left int64
			text        func(int64) string
			milli       bool
		}{{"cpu", int64(s.Type.VCPU) * 1000, cpu, resolve.CPUText, true}, {"memory", int64(s.Type.MemoryGiB) << 30, memory, resolve.MemoryText, false}} {
			q, err := resource.ParseQuantity(manifest.TextOf(requests[want.name]))
			if err != nil {
				continue
			}
			n := q.Value()
			if want.milli {
				n = q.MilliValue()
			}
			switch {
			case n > want.total:
				f.add(manifest.JoinPath(at, want.name), errs.Usagef("%s of %s exceeds the capacity of %s (%s)", want.name, q.String(), s.NodeType, want.text(want.total)))
			case n > want.left:
				s.Notef("%s of %s may not fit: about %s of %s are available for pods on %s", want.name, q.String(), want.text(want.left), want.text(want.total), s.NodeType)
			}
		}
	}
}
