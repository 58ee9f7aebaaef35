package inputs

import (
	"encoding/json"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Dynamic quota orchestration (Kueue 0.20): an orchestrator writes the quotas that Kueue uses in place of
// spec.resourceGroups into status.effectiveQuotas of ClusterQueues and Cohorts. Kueue's types here do not have the field.

// wireQuotas is that field.
type wireQuotas struct {
	EffectiveQuotas *struct {
		ResourceGroups []kueue.ResourceGroup `json:"resourceGroups"` // empty: no quota at all
	} `json:"effectiveQuotas"`
}

// owner names a ClusterQueue or Cohort.
type owner struct{ kind, name string }

// noteQuotas remembers the effective quotas of an object.
func (l *loader) noteQuotas(r kinds.Resource, name string, w wireQuotas) {
	if w.EffectiveQuotas == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dynamic == nil {
		l.dynamic = map[owner][]kueue.ResourceGroup{}
	}
	l.dynamic[owner{r.Kind, name}] = w.EffectiveQuotas.ResourceGroups
}

// noteRaw is noteQuotas for an object that was decoded as a whole.
func (l *loader) noteRaw(r kinds.Resource, name string, raw json.RawMessage) {
	var w struct {
		Status wireQuotas `json:"status"`
	}
	if (r.Kind == kinds.ClusterQueue.Kind || r.Kind == kinds.Cohort.Kind) && json.Unmarshal(raw, &w) == nil {
		l.noteQuotas(r, name, w.Status)
	}
}

// applyDynamic puts effective quotas in the place of those of spec, as Kueue does with its feature gate on. Where its
// configuration is not known, quotas that somebody orchestrates mean that it is.
func (l *loader) applyDynamic() {
	in := l.out
	if r := in.Rules(); l.o.Declared || len(l.dynamic) == 0 || r.Known && !r.Config.Gates[embedded.DynamicQuotaGate] {
		return
	}
	for i, q := range in.ClusterQueues {
		if groups, ok := l.dynamic[owner{kinds.ClusterQueue.Kind, q.Name}]; ok {
			c := *q
			c.Spec.ResourceGroups = groups
			in.ClusterQueues[i] = &c
		}
	}
	for i, q := range in.Cohorts {
		if groups, ok := l.dynamic[owner{kinds.Cohort.Kind, q.Name}]; ok {
			c := *q
			c.Spec.ResourceGroups = groups
			in.Cohorts[i] = &c
		}
	}
}
