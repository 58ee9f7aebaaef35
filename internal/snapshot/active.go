package snapshot

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// behindQueue reports a kind that decides whether Kueue uses a ClusterQueue.
func behindQueue(r kinds.Resource) bool {
	return slices.ContainsFunc([]kinds.Resource{kinds.ResourceFlavor, kinds.Topology, kinds.AdmissionCheck, kinds.Cohort, kinds.ClusterQueue},
		func(of kinds.Resource) bool { return of.FullName() == r.FullName() })
}

// inactive sets the Active condition of ClusterQueues that have none and that Kueue would
// not use, for example because an admission check is not active. Kueue's own rule
// decides. A file that lacks one of the kinds in question decides nothing.
func (p *plainFile) inactive(now time.Time) {
	var without, behind []plainObject
	for _, o := range p.objects {
		if !behindQueue(o.resource) {
			continue
		}
		behind = append(behind, o)
		if o.resource.FullName() == kinds.ClusterQueue.FullName() && object.Condition(o.body, kueue.ClusterQueueActive) == nil {
			without = append(without, o)
		}
	}
	if len(without) == 0 || slices.ContainsFunc(p.lacking(), behindQueue) {
		return
	}
	var objects []client.Object
	for _, o := range behind {
		text, err := json.Marshal(o.body)
		if err != nil {
			return
		}
		decoded, err := decode.Objects(text)
		if err != nil {
			return // reading it as a snapshot reports what is wrong
		}
		objects = append(objects, decoded...)
	}
	ctx := context.Background()
	e, err := admission.New(admission.Config{Now: func() time.Time { return now }})
	if err != nil {
		return
	}
	_ = e.Load(ctx, objects...) // what it leaves out, the commands report
	for _, o := range without {
		name := object.Text(o.body, "metadata", "name")
		if active, reason, message := e.Readiness(name); !active && reason != "" {
			conditions := append(object.List(o.body, "status", "conditions"), map[string]any{"type": kueue.ClusterQueueActive, "status": "False",
				"reason": reason, "message": message, "lastTransitionTime": object.Stamp(now)})
			object.Set(o.body, conditions, "status", "conditions")
		}
	}
}
