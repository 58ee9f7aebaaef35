package remedy

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// otherTypes tries the other instance types of the cluster's flavors.
func (f *finder) otherTypes(ctx context.Context) {
	own := InstanceTypes(f.Workload)
	if len(own) != 1 {
		return // without a required type, Kueue has tried every flavor
	}
	seen := map[string]bool{own[0]: true}
	var found candidates
	for _, flavor := range f.In.Flavors {
		t := quota.InstanceType(flavor.Spec.NodeLabels)
		if t == "" || seen[t] || len(seen) > mostTypes {
			continue
		}
		seen[t] = true
		r, a := f.onType(ctx, own[0], t)
		found.note(r, a)
	}
	f.take(ctx, found)
}

// onType asks about the job on another instance type: with its present requests, else
// with the share of a node of that type that its accelerators have.
func (f *finder) onType(ctx context.Context, own, t string) (Remedy, answer) {
	r := Remedy{Code: OtherInstanceType, InstanceType: t}
	if f.Make == nil {
		w := f.Workload.DeepCopy()
		for i := range w.Spec.PodSets {
			replaceType(&w.Spec.PodSets[i].Template.Spec, own, t)
		}
		return r, f.ask(ctx, w, false)
	}
	var best answer
	for _, resize := range []bool{false, true} {
		w, made, err := f.Make(Change{InstanceType: t, Resize: resize})
		if err != nil {
			continue
		}
		if a := f.ask(ctx, w, false); a.runs || a.waits && !best.waits {
			r.Options, best = made.Options, a
		}
		if best.runs {
			break
		}
	}
	return r, best
}

// candidates are the remedies of one code: those that run, and those that wait.
type candidates struct{ run, wait []candidate }

type candidate struct {
	r Remedy
	d admission.Decision
}

func (c *candidates) note(r Remedy, a answer) {
	switch {
	case a.runs:
		c.run = append(c.run, candidate{r, a.d})
	case a.waits:
		r.Waits = true
		c.wait = append(c.wait, candidate{r, a.d})
	}
}

// take adds the first remedies that run; where none runs and the job can never run,
// the first that wait.
func (f *finder) take(ctx context.Context, c candidates) {
	list := c.run
	if len(list) == 0 && f.NeverAdmitted {
		list = c.wait
	}
	for i := range list[:min(len(list), mostAnswers)] {
		f.add(ctx, list[i].r, &list[i].d)
	}
}

// InstanceTypes returns the instance types that a workload's pods require.
func InstanceTypes(w *kueue.Workload) []string {
	var out []string
	note := func(t string) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for i := range w.Spec.PodSets {
		eachType(&w.Spec.PodSets[i].Template.Spec, func(t *string) { note(*t) })
	}
	return out
}

func replaceType(spec *corev1.PodSpec, from, to string) {
	eachType(spec, func(t *string) {
		if *t == from {
			*t = to
		}
	})
}

// eachType visits the instance types that a pod requires; visit may change them.
func eachType(spec *corev1.PodSpec, visit func(*string)) {
	for _, key := range []string{kinds.InstanceTypeLabel, "beta.kubernetes.io/instance-type"} {
		if t, ok := spec.NodeSelector[key]; ok {
			visit(&t)
			spec.NodeSelector[key] = t
		}
		if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
				for _, e := range term.MatchExpressions {
					if e.Key == key && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 {
						visit(&e.Values[0])
					}
				}
			}
		}
	}
}
