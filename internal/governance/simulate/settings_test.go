package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/present/simulation"
)

// twoFlavors gives team b a second flavor.
func twoFlavors(t *testing.T) simulate.World {
	w := world(t, "lend-three.yaml")
	for _, o := range w.Objects {
		if q, ok := o.(*kueue.ClusterQueue); ok && q.Name == "b" {
			g := &q.Spec.ResourceGroups[0]
			g.Flavors = append(g.Flavors, *g.Flavors[0].DeepCopy())
			g.Flavors[1].Name = "h100"
			g.Flavors[1].Resources[0].NominalQuota = resource.MustParse("9")
		}
	}
	return w
}

// TestPercentages: quota, limits and weights take a percentage, with and without a
// flavor.
func TestPercentages(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"b.quota=50%", "a100 2 - -; h100 4 - -; weight 1"},
		{"b.quota/nvidia.com/gpu@h100=200%", "a100 5 - -; h100 18 - -; weight 1"},
		{"b.quota@a100=0%", "a100 0 - -; h100 9 - -; weight 1"},
		{"b.borrow-limit=50%", "a100 5 2 -; h100 9 4 -; weight 1"},
		{"b.lend-limit/nvidia.com/gpu@h100=100%", "a100 5 - -; h100 9 - 9; weight 1"},
		{"b.weight=250%", "a100 5 - -; h100 9 - -; weight 2500m"},
		{"b.lend-limit/nvidia.com/gpu@a100=4 b.quota@a100=40%", "a100 2 - 2; h100 9 - -; weight 1"},
	} {
		var changes []simulate.Change
		for _, s := range strings.Fields(c.set) {
			changes = append(changes, change(t, simulate.Set, s))
		}
		w, _, err := simulate.Apply(context.Background(), twoFlavors(t), changes)
		got := "refused"
		if err == nil {
			got = policyOf(w, "b")
		}
		if got != c.want {
			t.Errorf("%s: %s (%v), want %s", c.set, got, err, c.want)
		}
	}
}

func policyOf(w simulate.World, queue string) string {
	text := func(q *resource.Quantity) string {
		if q == nil {
			return "-"
		}
		return q.String()
	}
	var parts []string
	for _, o := range w.Objects {
		if q, ok := o.(*kueue.ClusterQueue); ok && q.Name == queue {
			for _, f := range q.Spec.ResourceGroups[0].Flavors {
				r := f.Resources[0]
				parts = append(parts, fmt.Sprintf("%s %s %s %s", f.Name, r.NominalQuota.String(), text(r.BorrowingLimit), text(r.LendingLimit)))
			}
			weight := "1"
			if q.Spec.FairSharing != nil {
				weight = q.Spec.FairSharing.Weight.String()
			}
			parts = append(parts, "weight "+weight)
		}
	}
	return strings.Join(parts, "; ")
}

// TestSuggestedSettings: every setting that an error suggests is accepted.
func TestSuggestedSettings(t *testing.T) {
	for _, set := range []string{"b.quota=12", "b.borrow-limit=7", "b.lend-limit=3", "cohort:pool.quota=3"} {
		_, err := simulate.Run(context.Background(), twoFlavors(t), []simulate.Change{change(t, simulate.Set, set)}, simulate.Options{})
		var e *errs.Error
		if !errors.As(simulation.Error(err), &e) {
			t.Errorf("%s: %v", set, err)
			continue
		}
		for _, s := range e.Try {
			if len(s.Args) != 2 || s.Args[0] != "--set" {
				t.Errorf("%s: suggestion %v", set, s.Args)
				continue
			}
			if _, err := simulate.Run(context.Background(), twoFlavors(t), []simulate.Change{change(t, simulate.Set, s.Args[1])}, simulate.Options{}); err != nil {
				t.Errorf("%s suggests %s: %v", set, s.Args[1], err)
			}
		}
	}
}

// TestCohortSettings: a cohort's own quota, limits and parent.
func TestCohortSettings(t *testing.T) {
	set := func(text string) simulate.Change { return change(t, simulate.Set, text) }
	for _, c := range []struct {
		name    string
		changes []simulate.Change
		want    string
	}{
		{"quota", []simulate.Change{set("cohort:pool.quota/nvidia.com/gpu@a100=4"), addJob("b", "new", 4)}, "new: - > Admitted 4/3"},
		{"a percentage of it", []simulate.Change{set("cohort:pool.quota/nvidia.com/gpu@a100=8"), set("cohort:pool.quota=25%"), addJob("b", "new", 4)},
			"new: - > Waiting WaitingForQuota"},
		{"a parent without quota changes nothing", []simulate.Change{set("cohort:pool.cohort=company")}, ""},
	} {
		if got := short(run(t, world(t, "lend-three.yaml"), 0, c.changes...)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for text, want := range map[string]string{
		"cohort:none.quota=1":            "cohort \"none\" not found",
		"cohort:pool.reclaim=Any":        "a setting of teams",
		"cohort:pool.quota/x@y=1":        "cohort pool has no quota for x@y",
		"cohort:pool.borrow-limit/x@y=1": "cohort pool has no quota",
	} {
		_, err := simulate.Run(context.Background(), world(t, "lend-three.yaml"), []simulate.Change{set(text)}, simulate.Options{})
		if err == nil || !strings.Contains(textOf(err), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestAddTeam: a new team has the quota and policy of another, and a queue.
func TestAddTeam(t *testing.T) {
	r := run(t, world(t, "lend-three.yaml"), 0, change(t, simulate.AddTeam, "c=a"), change(t, simulate.Set, "c.quota=2"), addJob("c", "first", 3))
	if got := short(r); got != "first: - > Admitted 3/1" {
		t.Error(got)
	}
	if len(r.Teams) != 3 || figure(r.Teams[2].After.Nominal) != "2" || r.Teams[2].Before != nil {
		t.Errorf("%+v", r.Teams)
	}
	for _, text := range []string{"a=b", "c=nobody"} {
		if _, err := simulate.Run(context.Background(), world(t, "lend-three.yaml"), []simulate.Change{change(t, simulate.AddTeam, text)}, simulate.Options{}); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	for _, text := range []string{"c", "C=a", "c=", "=a"} {
		if _, err := simulate.New(simulate.AddTeam, text); exitOf(err) != errs.Usage {
			t.Errorf("%s: %v", text, err)
		}
	}
}
