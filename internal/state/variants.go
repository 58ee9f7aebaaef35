package state

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Concurrent admission: Kueue makes variants of the workload of a job, one for each flavor. They queue and hold quota in
// its place, and it takes the admission of one of them. To a reader all of them are one workload.

// variantOf returns the workload that owns a workload: one that is a variant. It is the zero Owner for any other.
func variantOf(w *Workload) Owner {
	for _, o := range w.Owners {
		if o.Kind == kinds.Workload.Kind && strings.HasPrefix(o.APIVersion, kinds.Workload.Group+"/") {
			return o
		}
	}
	return Owner{}
}

// Variant reports whether a workload is a variant of another one, known or not.
func (w *Workload) Variant() bool { return variantOf(w).Name != "" }

// withoutVariants returns the workloads without the variants of others among them. One that waits says what its variants
// say: what they hold, or why they wait.
func withoutVariants(all []Workload) []Workload {
	parents, variants := kinds.Parents{}, map[[2]string][]*Workload{}
	for i := range all {
		w := &all[i]
		o := variantOf(w)
		if parents.Add(w.Namespace, w.Name, w.UID, o.Name); o.Name != "" {
			at := [2]string{w.Namespace, o.Name}
			variants[at] = append(variants[at], w)
		}
	}
	if len(variants) == 0 {
		return all
	}
	out := make([]Workload, 0, len(all))
	for i := range all {
		w := all[i]
		o := variantOf(&w)
		if parents.Have(w.Namespace, o.Name, o.UID) {
			continue
		}
		if o.Name == "" && w.Admission == nil {
			w.tell(slices.DeleteFunc(slices.Clone(variants[[2]string{w.Namespace, w.Name}]), func(v *Workload) bool {
				o := variantOf(v)
				return !parents.Have(v.Namespace, o.Name, o.UID)
			}))
		}
		out = append(out, w)
	}
	return out
}

// families are the workloads of a stream: each with its variants, by namespace and name.
type families map[[2]string][]Workload

// follow returns what an event of a workload or a variant means for the workloads without variants.
func (f families) follow(e kube.Event[Workload]) []kube.Event[Workload] {
	key := [2]string{e.Object.Namespace, cmp.Or(variantOf(&e.Object).Name, e.Object.Name)}
	before := withoutVariants(f[key])
	f[key] = slices.DeleteFunc(slices.Clone(f[key]), func(w Workload) bool { return w.UID == e.Object.UID })
	if e.Type != kube.Deleted {
		f[key] = append(f[key], e.Object)
	}
	if len(f[key]) == 0 {
		delete(f, key)
	}
	after := withoutVariants(f[key])
	at := func(list []Workload, uid string) int {
		return slices.IndexFunc(list, func(w Workload) bool { return w.UID == uid })
	}
	var out []kube.Event[Workload]
	for _, w := range before {
		if at(after, w.UID) < 0 {
			out = append(out, kube.Event[Workload]{Type: kube.Deleted, Object: w})
		}
	}
	for _, w := range after {
		switch i := at(before, w.UID); {
		case i < 0 && w.UID == e.Object.UID:
			out = append(out, kube.Event[Workload]{Type: e.Type, Object: w})
		case i < 0:
			out = append(out, kube.Event[Workload]{Type: kube.Added, Object: w})
		case w.UID == e.Object.UID || !reflect.DeepEqual(w, before[i]):
			out = append(out, kube.Event[Workload]{Type: kube.Modified, Object: w})
		}
	}
	return out
}

// tell gives a workload without quota the condition QuotaReserved of one of its variants, and what that one holds.
func (w *Workload) tell(variants []*Workload) {
	var said *Condition
	for _, v := range variants {
		at := slices.IndexFunc(v.Conditions, func(c Condition) bool { return c.Type == "QuotaReserved" })
		if !v.Active || at < 0 {
			continue
		}
		c := v.Conditions[at]
		if c.True() && v.Admission != nil {
			w.Admission, w.Checks, said = v.Admission, v.Checks, &c
			break
		}
		if said == nil && !c.True() {
			said = &c
		}
	}
	if said == nil || !said.True() && slices.ContainsFunc(w.Conditions, func(c Condition) bool { return c.Type == said.Type && c.Reason == "Inadmissible" }) {
		return
	}
	w.Conditions = slices.DeleteFunc(slices.Clone(w.Conditions), func(c Condition) bool { return c.Type == said.Type })
	w.Conditions = append(w.Conditions, *said)
}
