package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// differing returns the fields of two specs that differ in effect, by their JSON names,
// sorted.
func differing(a, b *kueue.ClusterQueueSpec) []string {
	x, y := fieldsOfSpec(normal(a)), fieldsOfSpec(normal(b))
	keys := maps.Clone(x)
	maps.Copy(keys, y)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if key != resourceGroups && !bytes.Equal(x[key], y[key]) {
			out = append(out, key)
		}
	}
	return withGroups(out, a, b)
}

// changing returns the fields that a spec would change if it was applied over another:
// what it does not set stays.
func changing(desired, live *kueue.ClusterQueueSpec) []string {
	now, fields := fieldsOfSpec(normal(live)), fieldsOfSpec(canonical(desired))
	var out []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key == resourceGroups || bytes.Equal(now[key], fields[key]) {
			continue
		}
		if is := decoded(now[key]); !reflect.DeepEqual(overlay(is, decoded(fields[key])), is) {
			out = append(out, key)
		}
	}
	return withGroups(out, desired, live)
}

// stated returns a ClusterQueue that states Kueue's default of a field where a document leaves the field out and the cluster has
// another value, such as Hold: apply leaves a field without a value as it is.
func stated(q *kueue.ClusterQueue, live *kueue.ClusterQueueSpec) *kueue.ClusterQueue {
	// Only these fields: specs of thousands of teams are not copied.
	only := func(s *kueue.ClusterQueueSpec) *kueue.ClusterQueueSpec {
		return normal(&kueue.ClusterQueueSpec{StopPolicy: s.StopPolicy, QueueingStrategy: s.QueueingStrategy, FlavorFungibility: s.FlavorFungibility})
	}
	want, now := only(&q.Spec), only(live)
	stop := q.Spec.StopPolicy == nil && *now.StopPolicy != *want.StopPolicy
	order := q.Spec.QueueingStrategy == "" && now.QueueingStrategy != want.QueueingStrategy
	flavors := q.Spec.FlavorFungibility == nil && !reflect.DeepEqual(now.FlavorFungibility, want.FlavorFungibility)
	if !stop && !order && !flavors {
		return q
	}
	q = q.DeepCopy()
	if stop {
		q.Spec.StopPolicy = want.StopPolicy
	}
	if order {
		q.Spec.QueueingStrategy = want.QueueingStrategy
	}
	if flavors {
		q.Spec.FlavorFungibility = want.FlavorFungibility
	}
	return q
}

// resourceGroups is the field of a spec that is compared by what it means.
const resourceGroups = "resourceGroups"

// withGroups adds resourceGroups to sorted names of fields if those of two specs differ in effect.
func withGroups(fields []string, a, b *kueue.ClusterQueueSpec) []string {
	if groupsText(a) == groupsText(b) {
		return fields
	}
	i, _ := slices.BinarySearch(fields, resourceGroups)
	return slices.Insert(fields, i, resourceGroups)
}

// fieldsOfSpec returns the fields of a spec as JSON. Fields without a value are left out. JSON of one type is the same text for the
// same value.
func fieldsOfSpec(s *kueue.ClusterQueueSpec) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if data, err := json.Marshal(s); err == nil { // specs that were decoded from JSON always have one
		_ = json.Unmarshal(data, &out)
	}
	maps.DeleteFunc(out, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	return out
}

// decoded returns a value of JSON of our own; nil if there is none.
func decoded(text json.RawMessage) any {
	var out any
	if len(text) > 0 {
		_ = json.Unmarshal(text, &out)
	}
	return out
}

// overlay returns a JSON value with the fields of another set, deeply; lists are replaced.
func overlay(under, over any) any {
	u, isMap := under.(map[string]any)
	o, both := over.(map[string]any)
	if !isMap || !both {
		return over
	}
	out := maps.Clone(u)
	for k, v := range o {
		if old, in := u[k]; in {
			v = overlay(old, v)
		}
		out[k] = v
	}
	return out
}

// plainSpec returns a spec as JSON; specs that were decoded from JSON always have one.
func plainSpec(spec any) map[string]any {
	plain, err := toPlain(spec)
	if err != nil {
		return map[string]any{}
	}
	return plain
}

// groupsText writes resource groups without what has no effect: quotas of 0 that cannot
// grow by borrowing, and flavors without others.
func groupsText(spec *kueue.ClusterQueueSpec) string {
	var b strings.Builder
	for _, g := range spec.ResourceGroups {
		b.WriteString("group")
		for _, f := range g.Flavors {
			rows := map[string]string{}
			for _, r := range f.Resources {
				text := amountText(r, spec.CohortName != "")
				if text != "" {
					rows[string(r.Name)] = text
				}
			}
			if len(rows) > 0 {
				fmt.Fprintf(&b, " %s%v", f.Name, rows)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func amountText(r kueue.ResourceQuota, cohort bool) string {
	name := string(r.Name)
	nominal := quota.AmountOf(name, r.NominalQuota)
	limit, lend := int64(0), "-"
	if r.BorrowingLimit != nil {
		limit = quota.AmountOf(name, *r.BorrowingLimit)
	} else if cohort {
		limit = quota.Unlimited
	}
	if r.LendingLimit != nil {
		lend = fmt.Sprint(quota.AmountOf(name, *r.LendingLimit))
	}
	if nominal == 0 && limit == 0 {
		return ""
	}
	return fmt.Sprintf("%d+%d/%s", nominal, limit, lend)
}

// normal fills in the defaults of Kueue's API (apis/kueue/v1beta2/clusterqueue_types.go),
// so that a spec that was read and one that was written compare.
func normal(spec *kueue.ClusterQueueSpec) *kueue.ClusterQueueSpec {
	s := canonical(spec)
	s.QueueingStrategy = cmp.Or(s.QueueingStrategy, kueue.BestEffortFIFO)
	if s.StopPolicy == nil {
		none := kueue.None
		s.StopPolicy = &none
	}
	if s.FlavorFungibility == nil {
		s.FlavorFungibility = &kueue.FlavorFungibility{}
	}
	s.FlavorFungibility.WhenCanBorrow = cmp.Or(s.FlavorFungibility.WhenCanBorrow, kueue.MayStopSearch)
	s.FlavorFungibility.WhenCanPreempt = cmp.Or(s.FlavorFungibility.WhenCanPreempt, kueue.TryNextFlavor)
	if s.Preemption == nil {
		s.Preemption = &kueue.ClusterQueuePreemption{}
	}
	p := s.Preemption
	p.WithinClusterQueue = cmp.Or(p.WithinClusterQueue, kueue.PreemptionPolicyNever)
	p.ReclaimWithinCohort = cmp.Or(p.ReclaimWithinCohort, kueue.PreemptionPolicyNever)
	if p.BorrowWithinCohort != nil && cmp.Or(p.BorrowWithinCohort.Policy, kueue.BorrowWithinCohortPolicyNever) == kueue.BorrowWithinCohortPolicyNever {
		p.BorrowWithinCohort = nil
	}
	if s.FairSharing == nil || s.FairSharing.Weight == nil {
		s.FairSharing = &kueue.FairSharing{Weight: resource.NewQuantity(1, resource.DecimalSI)}
	}
	return s
}

// canonical returns a copy with every quantity written in one way.
func canonical(spec *kueue.ClusterQueueSpec) *kueue.ClusterQueueSpec {
	s := spec.DeepCopy()
	canonicalQuota(s.ResourceGroups, s.FairSharing)
	return s
}

func canonicalCohort(spec *kueue.CohortSpec) *kueue.CohortSpec {
	s := spec.DeepCopy()
	canonicalQuota(s.ResourceGroups, s.FairSharing)
	return s
}

// canonicalQuota writes the quantities of a ClusterQueue or Cohort in one way, in place.
func canonicalQuota(groups []kueue.ResourceGroup, sharing *kueue.FairSharing) {
	for _, g := range groups {
		for fi := range g.Flavors {
			for ri := range g.Flavors[fi].Resources {
				r := &g.Flavors[fi].Resources[ri]
				canonicalQuantity(r.Name, &r.NominalQuota)
				canonicalQuantity(r.Name, r.BorrowingLimit)
				canonicalQuantity(r.Name, r.LendingLimit)
			}
		}
	}
	if sharing != nil && sharing.Weight != nil {
		sharing.Weight = resource.NewMilliQuantity(sharing.Weight.MilliValue(), resource.DecimalSI)
	}
}

func canonicalQuantity(name corev1.ResourceName, q *resource.Quantity) {
	if q == nil {
		return
	}
	if n := quota.AmountOf(string(name), *q); n != quota.Unlimited {
		*q = quantity(string(name), n)
	}
}

// quantity returns an amount as people write it: memory in binary units.
func quantity(name string, n int64) resource.Quantity {
	if name == string(corev1.ResourceMemory) {
		return *resource.NewQuantity(n, resource.BinarySI)
	}
	return quota.QuantityOf(name, n)
}
