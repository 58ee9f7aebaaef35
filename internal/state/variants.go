package state

import "slices"

// Concurrent admission: Kueue makes variants of the workload of a job, one for each flavor. They queue and hold quota in
// its place, and it takes the admission of one of them. To a reader all of them are one workload.

// variantOf returns the UID of the workload that a workload is a variant of, "" for any other.
func variantOf(w *Workload) string {
	for _, o := range w.Owners {
		if o.Kind == "Workload" {
			return o.UID
		}
	}
	return ""
}

// withoutVariants returns the workloads without the variants of others among them. One that waits says what its variants
// say: what they hold, or why they wait.
func withoutVariants(all []Workload) []Workload {
	variants := map[string][]*Workload{}
	for i := range all {
		if uid := variantOf(&all[i]); uid != "" {
			variants[uid] = append(variants[uid], &all[i])
		}
	}
	if len(variants) == 0 {
		return all
	}
	out := make([]Workload, 0, len(all))
	parents := map[string]bool{}
	for i := range all {
		if all[i].UID != "" {
			parents[all[i].UID] = true
		}
	}
	for i := range all {
		w := all[i]
		if parents[variantOf(&w)] {
			continue
		}
		if mine := variants[w.UID]; mine != nil && w.Admission == nil {
			w.tell(mine)
		}
		out = append(out, w)
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
