package quota

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

const gpu = "nvidia.com/gpu"

// queue makes a ClusterQueue of GPUs in flavor "f". Limits below zero are none.
func queue(name, cohort string, nominal, borrowing, lending int64) state.ClusterQueue {
	return state.ClusterQueue{Meta: state.Meta{Name: name}, Cohort: cohort, ResourceGroups: group(nominal, borrowing, lending)}
}

func group(nominal, borrowing, lending int64) []state.ResourceGroup {
	q := state.ResourceQuota{Name: gpu, Nominal: *resource.NewQuantity(nominal, resource.DecimalSI)}
	if borrowing >= 0 {
		q.BorrowingLimit = resource.NewQuantity(borrowing, resource.DecimalSI)
	}
	if lending >= 0 {
		q.LendingLimit = resource.NewQuantity(lending, resource.DecimalSI)
	}
	return []state.ResourceGroup{{CoveredResources: []string{gpu}, Flavors: []state.FlavorQuotas{{Name: "f", Resources: []state.ResourceQuota{q}}}}}
}

func cohort(name, parent string, nominal, borrowing, lending int64) state.Cohort {
	return state.Cohort{Meta: state.Meta{Name: name}, Parent: parent, ResourceGroups: group(nominal, borrowing, lending)}
}

func usagesOf(of map[string]int64) map[string]Usage {
	out := map[string]Usage{}
	for name, n := range of {
		out[name] = Usage{{"f", gpu}: n}
	}
	return out
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		amount  int64
		weights []int64
		want    []int64
	}{
		{4, []int64{4}, []int64{4}},
		{3, []int64{2, 2}, []int64{2, 1}}, // equal remainders: the first
		{4, []int64{3, 2, 1}, []int64{2, 1, 1}},
		{5, []int64{1, 9}, []int64{1, 4}},
		{0, []int64{1, 2}, []int64{0, 0}},
		{0, nil, []int64{}},
		{7, []int64{0, 7}, []int64{0, 7}},
		{1 << 40, []int64{3 << 40, 1 << 40}, []int64{3 << 38, 1 << 38}},
		{10, []int64{Unlimited, Unlimited}, []int64{5, 5}},
		{1 << 50, []int64{Unlimited, Unlimited, Unlimited}, []int64{375299968947542, 375299968947541, 375299968947541}},
	} {
		if got := split(c.amount, c.weights); !reflect.DeepEqual(got, c.want) {
			t.Errorf("split(%d, %v) = %v, want %v", c.amount, c.weights, got, c.want)
		}
	}
}

func TestLenders(t *testing.T) {
	// A has 6 and uses 2, B has 5 and uses 4: a task of 4 for B borrows 3.
	lendThree := NewTree([]state.ClusterQueue{queue("a", "pool", 6, -1, -1), queue("b", "pool", 5, -1, -1)}, nil, usagesOf(map[string]int64{"a": 2, "b": 4}))
	// A tree: b borrows first inside its cohort, then above it.
	deep := NewTree([]state.ClusterQueue{
		queue("a", "left", 4, -1, -1), queue("b", "left", 2, -1, -1),
		queue("c", "right", 6, -1, -1), queue("d", "right", 3, -1, 1), queue("e", "root", 2, -1, -1),
	}, []state.Cohort{cohort("left", "root", 1, -1, -1), cohort("right", "root", 0, -1, 3), {Meta: state.Meta{Name: "root"}}},
		usagesOf(map[string]int64{"a": 2, "b": 2, "c": 1}))
	for _, c := range []struct {
		name   string
		tree   *Tree
		queue  string
		amount int64
		want   []Loan
	}{
		{"lend three", lendThree, "b", 3, []Loan{{ClusterQueue: "a", Amount: 3}}},
		{"more than there is", lendThree, "b", 9, []Loan{{ClusterQueue: "a", Amount: 4}}},
		{"nothing", lendThree, "b", 0, nil},
		{"unknown queue", lendThree, "x", 3, nil},
		{"own cohort first", deep, "b", 2, []Loan{{ClusterQueue: "a", Amount: 1}, {Cohort: "left", Amount: 1}}},
		// right lends at most 3 (c has 5, d offers 1), e has 2: of 4, in proportion 3:2, 2 and 2 (remainders .4 and .6).
		{"then the parent", deep, "b", 7, []Loan{{ClusterQueue: "a", Amount: 2}, {ClusterQueue: "c", Amount: 2}, {ClusterQueue: "e", Amount: 2}, {Cohort: "left", Amount: 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.tree.Lenders(c.queue, "f", gpu, c.amount)
			if len(got) == 0 && len(c.want) == 0 {
				return
			}
			want := map[Loan]bool{}
			for _, l := range c.want {
				want[l] = true
			}
			for _, l := range got {
				if !want[l] {
					t.Errorf("unexpected %+v", l)
				}
			}
			if len(got) != len(want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestLoans: john has 12 and uses 8, smith has 4 and uses 8.
func TestLoans(t *testing.T) {
	tree := NewTree([]state.ClusterQueue{queue("john", "shared-pool", 12, 6, -1), queue("smith", "shared-pool", 4, 4, -1)}, nil,
		usagesOf(map[string]int64{"john": 8, "smith": 8}))
	if got := tree.Loans("smith", "f", gpu); !reflect.DeepEqual(got, []Loan{{ClusterQueue: "john", Amount: 4}}) {
		t.Errorf("smith borrows from %+v", got)
	}
	if got := tree.Loans("john", "f", gpu); got != nil {
		t.Errorf("john borrows from %+v", got)
	}
}

// TestCycle: queues below a cohort that names itself, or a ring, share nothing
// and get nothing; the others are not disturbed.
func TestCycle(t *testing.T) {
	tree := NewTree([]state.ClusterQueue{queue("a", "self", 4, -1, -1), queue("b", "under", 4, -1, -1), queue("c", "ok", 4, -1, -1), queue("d", "ok", 1, -1, -1)},
		[]state.Cohort{cohort("self", "self", 8, -1, -1), cohort("ring1", "ring2", 0, -1, -1), cohort("ring2", "ring1", 0, -1, -1), cohort("under", "ring1", 0, -1, -1)},
		usagesOf(map[string]int64{"a": 6, "d": 2}))
	for name, want := range map[string]int64{"a": 0, "b": 0, "c": 3, "d": 3} {
		if got := tree.Available(name, "f", gpu); got != want {
			t.Errorf("%s can get %d, want %d", name, got, want)
		}
	}
	if got := tree.Lenders("a", "f", gpu, 2); got != nil {
		t.Errorf("a borrows from %+v", got)
	}
}

// TestIdentity: over every tree, what is borrowed is lent by queues or by
// cohorts' own quota, or is overcommitted; nobody lends more than it may.
func TestIdentity(t *testing.T) {
	trees := 5000
	if testing.Short() {
		trees = 500
	}
	over, lent := 0, 0
	for seed := range uint64(trees) {
		tree, text := randomTree(rand.New(rand.NewPCG(seed, 7)))
		k := Key{"f", gpu}
		var check func(n *node) (debt, given, unbacked int64)
		check = func(n *node) (debt, given, unbacked int64) {
			l := n.loan(k)
			if n.isCohort {
				given = l.lent
				if l.lent < 0 || l.own < 0 || l.lent+l.own != n.limit(k).nominal {
					t.Fatalf("seed %d: cohort %s lends %d and keeps %d of %d\n%s", seed, n.name, l.lent, l.own, n.limit(k).nominal, text)
				}
			} else {
				debt, given, unbacked = l.debt, l.lent, l.over
				idle := max(0, n.limit(k).nominal-n.usage[k])
				if l.lent > min(idle, n.limit(k).lending) || l.lent < 0 || l.over < 0 || l.over > l.debt {
					t.Fatalf("seed %d: queue %s lends %d of %d idle, is over by %d of %d\n%s", seed, n.name, l.lent, idle, l.over, l.debt, text)
				}
			}
			for _, c := range n.children {
				d, g, u := check(c)
				debt, given, unbacked = debt+d, given+g, unbacked+u
			}
			return debt, given, unbacked
		}
		for _, root := range tree.roots {
			debt, given, unbacked := check(root)
			if debt != given+unbacked {
				t.Fatalf("seed %d: under %s %d is used beyond quota, %d lent, %d overcommitted\n%s", seed, root.name, debt, given, unbacked, text)
			}
			if unbacked != root.loan(k).debt {
				t.Fatalf("seed %d: %d overcommitted, the root misses %d\n%s", seed, unbacked, root.loan(k).debt, text)
			}
			over, lent = over+int(unbacked), lent+int(given)
		}
		lends := map[*node]int64{}
		for name, n := range tree.queues {
			l := n.loan(k)
			var sum int64
			for _, loan := range tree.Loans(name, "f", gpu) {
				sum += loan.Amount
				from := tree.queues[loan.ClusterQueue]
				if loan.Cohort != "" {
					from = tree.cohorts[loan.Cohort]
				}
				lends[from] += loan.Amount
			}
			if sum != l.debt-l.over {
				t.Fatalf("seed %d: %s borrows %d, its lenders lend %d\n%s", seed, name, l.debt-l.over, sum, text)
			}
		}
		for n, sum := range lends {
			if sum != n.loan(k).lent {
				t.Fatalf("seed %d: %s lends %d, its borrowers borrow %d of it\n%s", seed, n.name, n.loan(k).lent, sum, text)
			}
		}
	}
	if over == 0 || lent == 0 {
		t.Errorf("%d overcommitted, %d lent: the test proves nothing", over, lent)
	}
}

// randomTree makes up to three levels of cohorts, some only named, with or
// without limits, and queues that may use more than they have.
func randomTree(r *rand.Rand) (*Tree, string) {
	limit := func() int64 { return int64(r.IntN(12)) - 4 }
	var queues []state.ClusterQueue
	var cohorts []state.Cohort
	n := r.IntN(5)
	for i := range n {
		parent := ""
		if i > 0 && r.IntN(4) > 0 {
			parent = fmt.Sprint("c", r.IntN(i))
		}
		cohorts = append(cohorts, cohort(fmt.Sprint("c", i), parent, int64(r.IntN(2)*r.IntN(8)), limit(), limit()))
		if parent == "" { // a root has no limits: Kueue's webhook refuses them
			cohorts[i].ResourceGroups = group(int64(r.IntN(8)), -1, -1)
		}
	}
	used := map[string]int64{}
	for i := range 1 + r.IntN(7) {
		name, in := fmt.Sprint("q", i), ""
		if r.IntN(8) > 0 {
			in = fmt.Sprint("c", r.IntN(n+1))
		}
		queues = append(queues, queue(name, in, int64(r.IntN(12)), limit(), limit()))
		used[name] = int64(r.IntN(14))
	}
	return NewTree(queues, cohorts, usagesOf(used)), fmt.Sprintf("%+v\n%+v\n%v", queues, cohorts, used)
}

// A cohort borrows what its members borrow from others; loans among its members are its
// own affair. What it lends is what others use.
func TestCohortBorrowsFromAbove(t *testing.T) {
	s := &state.State{ClusterQueues: []state.ClusterQueue{
		queue("a", "left", 4, -1, -1), queue("b", "left", 2, -1, -1), queue("c", "right", 6, -1, 5),
	}, Cohorts: []state.Cohort{cohort("left", "root", 0, -1, -1), cohort("right", "root", 0, -1, -1), {Meta: state.Meta{Name: "root"}}}}
	use := Use{Reserved: usagesOf(map[string]int64{"a": 1, "b": 9, "c": 1}), Used: usagesOf(map[string]int64{"a": 1, "b": 9, "c": 1})}
	got := map[string]string{}
	for _, b := range FromUse(s, use).Branches(gpu) {
		name := b.Cohort
		if b.Team != nil {
			name = b.Team.ClusterQueue
		}
		got[name] = fmt.Sprintf("borrowed %d lent %d free %d lendable %d", *b.Row.Borrowed, *b.Row.Lent, *b.Row.Free, *b.Row.Lendable)
	}
	// b needs 7: 3 of a, and of the 5 that c offers 4.
	want := map[string]string{
		"root":  "borrowed 0 lent 0 free 1 lendable 0",
		"left":  "borrowed 4 lent 0 free 0 lendable 0",
		"right": "borrowed 0 lent 4 free 1 lendable 1",
		"a":     "borrowed 0 lent 3 free 0 lendable 0",
		"b":     "borrowed 7 lent 0 free 0 lendable 0",
		"c":     "borrowed 0 lent 4 free 1 lendable 1",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}
