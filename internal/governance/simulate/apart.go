package simulate

import (
	"context"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
)

// Between are the jobs ("namespace/job") that end otherwise if Kueue decides between the first changes and those of
// Options.Then, and not only after the last: Runs have quota then, Waits have none. Kueue v0.19.2 looks at parked jobs a
// second after a change (pkg/cache/queue/inadmissible_workloads.go), older versions at once.
type Between struct {
	Runs, Waits []string
	// Overcommit is what the teams then use beyond all quota, in addition to what they would use after the last change.
	// Kueue takes nothing back from those that use it: it stays until jobs end, or others reclaim their quota.
	Overcommit []Amount
}

// decided makes changes and lets Kueue decide.
func (o Options) decided(ctx context.Context, w World, changes []Change) (*applied, *result, bool, error) {
	a, err := change(ctx, w, changes)
	if err != nil {
		return nil, nil, false, err
	}
	a.again = admission.RetriedAfter(w.Objects, a.Objects, a.Config.FairSharing != w.Config.FairSharing)
	after, tie, err := decided(ctx, a.World, o.Cycles, o.EvictionTakes)
	return a, after, tie, err
}

// between compares with the outcome of all changes at once, in a small cluster that settles after the first ones; nil: no
// job ends otherwise.
func (o Options) between(ctx context.Context, base World, changes []Change, together *result) (*Between, error) {
	if len(o.Then) == 0 || base.size() > mostRepeated {
		return nil, nil
	}
	_, first, _, err := o.decided(ctx, base, changes)
	if err != nil || !first.settled {
		return nil, err
	}
	_, apart, _, err := o.decided(ctx, first.settledWorld(), o.Then)
	if err != nil {
		return nil, err
	}
	out := &Between{Runs: []string{}, Waits: []string{}, Overcommit: more(totals(together).Overcommit, totals(apart).Overcommit)}
	for k := range together.states {
		switch runs, also := apart.reserves(k), together.reserves(k); {
		case runs && !also:
			out.Runs = append(out.Runs, together.label(k.Namespace, k.Name))
		case also && !runs:
			out.Waits = append(out.Waits, together.label(k.Namespace, k.Name))
		}
	}
	if len(out.Runs)+len(out.Waits) == 0 {
		return nil, nil
	}
	slices.Sort(out.Runs)
	slices.Sort(out.Waits)
	return out, nil
}

// more returns by how much the amounts of b exceed those of a.
func more(a, b []Amount) []Amount {
	out, less := exact(b), exact(a)
	for fr := range out {
		out[fr] = max(0, out[fr]-less[fr])
	}
	return amounts(out)
}
