package policy

import (
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Shift returns the Kueue objects that the service would change when the document of a
// cluster changes. Of a ClusterQueue that exists, only the fields that the change
// concerns are replaced: the mapping is inferred, so the others stay as the service made
// them.
func Shift(live *Live, from, to *Document, m Mapping) (*Objects, error) {
	a, err := ToKueue(from, m)
	if err != nil {
		return nil, err
	}
	t := newMapper(m)
	before := map[string]*kueue.ClusterQueue{}
	for _, q := range a.ClusterQueues {
		before[q.Name] = q
	}
	queues := byName(live.ClusterQueues)
	for i := range to.Teams {
		team := &to.Teams[i]
		own := newMapper(m)
		spec, err := own.spec(team)
		if err != nil {
			return nil, err
		}
		now := queues[client.ObjectKey{Name: team.Queue()}]
		if now == nil || before[team.Queue()] == nil {
			if err := t.team(team); err != nil {
				return nil, err
			}
			continue
		}
		fields := differing(&before[team.Queue()].Spec, spec)
		if len(fields) == 0 {
			continue
		}
		plain, wanted := plainSpec(canonical(&now.Spec)), plainSpec(spec)
		for _, f := range fields {
			if plain[f] = wanted[f]; wanted[f] == nil {
				delete(plain, f)
			}
		}
		changed := &kueue.ClusterQueue{ObjectMeta: now.ObjectMeta}
		if err := fromPlain(plain, &changed.Spec); err != nil {
			return nil, err
		}
		t.out.ClusterQueues = append(t.out.ClusterQueues, changed)
		maps.Copy(t.assumed, own.assumed)
	}
	if err := t.classes(a, to); err != nil {
		return nil, err
	}
	t.out.Assumptions = slices.Sorted(maps.Keys(t.assumed))
	return t.out, nil
}

// classes adds the priority classes that differ from those of other objects.
func (t *mapper) classes(before *Objects, to *Document) error {
	after, err := ToKueue(&Document{Policy: to.Policy}, t.Mapping)
	if err != nil {
		return err
	}
	classes := byName(before.Classes)
	for _, c := range after.Classes {
		old := classes[named(c)]
		if old == nil || old.Value != c.Value {
			t.assumed[AssumedClass] = true
			t.out.Classes = append(t.out.Classes, c)
		}
	}
	return nil
}

// Lowers reports whether any quota or limit of a team decreases.
func Lowers(from, to *Team, m Mapping) bool {
	a, err := newMapper(m).spec(from)
	if err != nil {
		return false // Check reports it
	}
	b, err := newMapper(m).spec(to)
	return err == nil && lower(a, b)
}
