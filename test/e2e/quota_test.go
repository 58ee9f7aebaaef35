package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// pools are the trees under test: queues g<group>-q<i>, half of the trees with a
// cohort of cohorts and quota of its own.
type pools struct {
	t       *testing.T
	bed     *cluster.Bed
	version string
	r       *rand.Rand
	groups  int
	// workloads are those there are, by ClusterQueue.
	workloads map[string][]string
	made      int
}

const queuesPerPool = 3

// quotaTruth compares the quota model with Kueue's own status over random states:
// so many cohort trees that change so many times. It also is the test of following
// a state on a real server: each comparison waits for Kueue by watching.
func quotaTruth(t *testing.T, bed *cluster.Bed, version string, groups, rounds int) {
	p := &pools{t: t, bed: bed, version: version, r: rand.New(rand.NewPCG(7, 1)), groups: groups, workloads: map[string][]string{}}
	p.createPolicy()
	client := clientFor(t, bed.Kubeconfig)
	seen := tally{}
	begin := time.Now()
	for round := range rounds {
		p.change(round)
		p.compare(client, &seen)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d states in %s: %d amounts equal, %d of them borrowed, %d overcommitted, %d lent; %d admissions seen, of %d workloads",
		groups*rounds, time.Since(begin).Round(time.Second), seen.equal, seen.borrowed, seen.overcommitted, seen.lent, seen.admitted, p.made)
	if seen.borrowed == 0 || seen.overcommitted == 0 || seen.lent == 0 || seen.admitted == 0 {
		t.Error("the states are too alike to prove anything")
	}
}

func (p *pools) path(plural string, name ...string) string {
	return "/apis/kueue.x-k8s.io/" + p.version + "/" + plural + strings.Join(append([]string{""}, name...), "/")
}

func (p *pools) namespaced(plural string, name ...string) string {
	return "/apis/kueue.x-k8s.io/" + p.version + "/namespaces/pools/" + plural + strings.Join(append([]string{""}, name...), "/")
}

func (p *pools) object(kind, name string, spec map[string]any) []byte {
	meta := map[string]any{"name": name}
	if kind == "LocalQueue" || kind == "Workload" {
		meta["namespace"] = "pools"
	}
	data, err := json.Marshal(map[string]any{"apiVersion": "kueue.x-k8s.io/" + p.version, "kind": kind, "metadata": meta, "spec": spec})
	if err != nil {
		p.t.Fatal(err)
	}
	return data
}

// send does requests in parallel, six at a time.
func (p *pools) send(requests []func() error) {
	p.t.Helper()
	var wg sync.WaitGroup
	limit := make(chan struct{}, 6)
	failed := make([]error, len(requests))
	for i, r := range requests {
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			failed[i] = r()
		})
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pools) post(path string, body []byte) func() error {
	return func() error {
		_, err := p.bed.Request(p.t.Context(), http.MethodPost, path, "application/json", body)
		return err
	}
}

func (p *pools) patch(path string, body any) func() error {
	data, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	return func() error {
		_, err := p.bed.Request(p.t.Context(), http.MethodPatch, path, "application/merge-patch+json", data)
		return err
	}
}

// groupsOf is random quota of two flavors, cpu in odd thousandths and GPUs.
func (p *pools) groupsOf(isCohort bool) []any {
	var flavors []any
	for _, name := range []string{"old", "new"} {
		var resources []any
		for _, res := range []string{"cpu", "nvidia.com/gpu"} {
			nominal := p.r.IntN(9)
			text := func(n int) string {
				if res == "cpu" {
					return fmt.Sprintf("%dm", n*750)
				}
				return fmt.Sprint(n)
			}
			q := map[string]any{"name": res, "nominalQuota": text(nominal)}
			if !isCohort && p.r.IntN(3) == 0 {
				q["borrowingLimit"] = text(p.r.IntN(8))
			}
			if !isCohort && p.r.IntN(4) == 0 {
				q["lendingLimit"] = text(p.r.IntN(nominal + 1))
			}
			resources = append(resources, q)
		}
		flavors = append(flavors, map[string]any{"name": name, "resources": resources})
	}
	return []any{map[string]any{"coveredResources": []string{"cpu", "nvidia.com/gpu"}, "flavors": flavors}}
}

func (p *pools) createPolicy() {
	t := p.t
	if err := p.bed.Apply(t.Context(), []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"pools"}}`)); err != nil {
		t.Fatal(err)
	}
	var requests []func() error
	for _, f := range []string{"old", "new"} {
		requests = append(requests, p.post(p.path("resourceflavors"), p.object("ResourceFlavor", f, map[string]any{})))
	}
	for g := range p.groups {
		cohort := fmt.Sprintf("pool-%d", g)
		if g%2 == 1 && p.version == "v1beta2" {
			requests = append(requests,
				p.post(p.path("cohorts"), p.object("Cohort", fmt.Sprintf("top-%d", g), map[string]any{"resourceGroups": p.groupsOf(true)})),
				p.post(p.path("cohorts"), p.object("Cohort", cohort, map[string]any{"parentName": fmt.Sprintf("top-%d", g)})))
		}
		for i := range queuesPerPool {
			name := fmt.Sprintf("g%d-q%d", g, i)
			spec := map[string]any{"namespaceSelector": map[string]any{}, "resourceGroups": p.groupsOf(false),
				"preemption": map[string]any{"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"}}
			in := cohort
			if g%2 == 1 && i == 2 && p.version == "v1beta2" {
				in = fmt.Sprintf("top-%d", g)
			}
			if p.version == "v1beta2" {
				spec["cohortName"] = in
			} else {
				spec["cohort"] = in
			}
			requests = append(requests, p.post(p.path("clusterqueues"), p.object("ClusterQueue", name, spec)),
				p.post(p.namespaced("localqueues"), p.object("LocalQueue", name, map[string]any{"clusterQueue": name})))
		}
	}
	p.send(requests)
}

// change makes the next state of every tree: quota moves up and down, some
// workloads end, others come.
func (p *pools) change(round int) {
	var requests []func() error
	for g := range p.groups {
		for i := range queuesPerPool {
			name := fmt.Sprintf("g%d-q%d", g, i)
			if round > 0 && p.r.IntN(2) == 0 {
				requests = append(requests, p.patch(p.path("clusterqueues", name), map[string]any{"spec": map[string]any{"resourceGroups": p.groupsOf(false)}}))
			}
			var kept []string
			for _, w := range p.workloads[name] {
				if p.r.IntN(2) == 0 {
					kept = append(kept, w)
					continue
				}
				requests = append(requests, func() error {
					_, err := p.bed.Request(p.t.Context(), http.MethodDelete, p.namespaced("workloads", w), "", nil)
					return err
				})
			}
			for range 1 + p.r.IntN(2) {
				p.made++
				w := fmt.Sprintf("w%d", p.made)
				kept = append(kept, w)
				requests = append(requests, p.post(p.namespaced("workloads"), p.object("Workload", w, p.workload(name))))
			}
			p.workloads[name] = kept
		}
	}
	p.send(requests)
}

func (p *pools) workload(queue string) map[string]any {
	requests := map[string]any{"cpu": fmt.Sprintf("%dm", 250*(1+p.r.IntN(4))), "nvidia.com/gpu": fmt.Sprint(p.r.IntN(3))}
	return map[string]any{"queueName": queue, "priority": p.r.IntN(3), "podSets": []any{map[string]any{"name": "main", "count": 1 + p.r.IntN(4),
		"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never",
			"containers": []any{map[string]any{"name": "c", "image": "none", "resources": map[string]any{"requests": requests}}}}}}}}
}

// tally says what was seen, so that a test that compared nothing is noticed.
type tally struct{ equal, borrowed, overcommitted, lent, admitted int }

// compare waits, by watching, until Kueue has taken in every workload and its
// status says what the model says.
func (p *pools) compare(client *kube.Client, seen *tally) {
	p.t.Helper()
	want := state.Want{ClusterQueues: true, Cohorts: true, LocalQueues: true, Workloads: true, PodSets: true}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(90 * time.Second)
	var last error
	err := state.Follow(p.t.Context(), client, want, state.Pace{Tick: tick.C, Idle: 20, Now: time.Now}, func(s *state.State) error {
		now := *seen
		if last = p.differs(s, &now); last == nil {
			*seen = now
			return kube.ErrStop
		}
		if time.Now().After(deadline) {
			return last
		}
		return nil
	})
	if err != nil {
		p.t.Errorf("Kueue and the model do not come to the same: %v", err)
	}
}

func (p *pools) differs(s *state.State, seen *tally) error {
	r := quota.Build(s)
	if !r.Complete || r.Source != quota.FromWorkloads || len(r.Teams) != p.groups*queuesPerPool {
		return fmt.Errorf("%d of %d queues read, from %s", len(r.Teams), p.groups*queuesPerPool, r.Source)
	}
	queues := map[string]state.ClusterQueue{}
	for _, q := range s.ClusterQueues {
		queues[q.Name] = q
	}
	for i := range r.Teams {
		t := &r.Teams[i]
		q := queues[t.ClusterQueue]
		if n := len(p.workloads[q.Name]); q.Pending+q.Reserving != n || t.Running+t.Waiting != n {
			return fmt.Errorf("%s has %d workloads, Kueue counts %d waiting and %d reserving", q.Name, n, q.Pending, q.Reserving)
		}
		for _, kind := range []struct {
			name   string
			status []state.FlavorUsage
			ours   func(quota.Figures) int64
		}{
			{"flavorsReservation", q.Reservation, func(f quota.Figures) int64 { return f.Reserved }},
			{"flavorsUsage", q.Usage, func(f quota.Figures) int64 { return f.Used }},
		} {
			if err := sameUsage(t, kind.status, kind.ours, seen); err != nil {
				return fmt.Errorf("%s of %s: %w", kind.name, q.Name, err)
			}
		}
		seen.admitted += t.Running
	}
	return nil
}

// sameUsage compares a status with a team's figures, flavor by flavor.
func sameUsage(t *quota.Team, status []state.FlavorUsage, ours func(quota.Figures) int64, seen *tally) error {
	compared := 0
	for _, flavor := range status {
		for _, res := range flavor.Resources {
			row, _ := t.Of(res.Name)
			for _, f := range row.Flavors {
				if f.Flavor != flavor.Name {
					continue
				}
				total, _ := state.Amount(res.Name, res.Total.String())
				borrowed, _ := state.Amount(res.Name, res.Borrowed.String())
				// Kueue calls borrowed what is used beyond nominal, lent or not.
				beyond := max(0, ours(f.Figures)-f.Nominal)
				if ours(f.Figures) == f.Reserved {
					beyond = *f.Borrowed + *f.Overcommit
				}
				if ours(f.Figures) != total || beyond != borrowed {
					return fmt.Errorf("%s of %s: Kueue says %d, %d borrowed; the model %d, %d", res.Name, flavor.Name, total, borrowed, ours(f.Figures), beyond)
				}
				compared++
				seen.equal += 2
				if *f.Borrowed > 0 {
					seen.borrowed++
				}
				if *f.Overcommit > 0 {
					seen.overcommitted++
				}
				if *f.Lent > 0 {
					seen.lent++
				}
			}
		}
	}
	if compared != 4 {
		return fmt.Errorf("%d of 4 amounts are there", compared)
	}
	return nil
}

func clientFor(t *testing.T, kubeconfig string) *kube.Client {
	t.Helper()
	target, err := kube.Locate(kube.Location{Kubeconfig: kubeconfig}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	c, err := kube.New(target.Config, kube.Options{UserAgent: "hyperpod/test"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// johnAndSmith is the worked example, with jobs: john has 12, uses 8 and lends 4; smith has 4, uses 8 and
// borrows 4. A third job waits.
func johnAndSmith(t *testing.T, bed *cluster.Bed) {
	admin := newUser(t, bed.Kubeconfig)
	start := func(name, team, nodes string, more ...string) {
		t.Helper()
		admin.ok(append([]string{"start-job", "--name", name, "--template", "pytorch", "--image", "example.com/train:1", "--entry-script", "train.py",
			"--instance-type", "ml.g5.12xlarge", "--node-count", nodes, "-n", "hyperpod-ns-" + team}, more...)...)
	}
	start("john-train", "john", "2", "--wait=admitted", "--timeout", "60s")
	start("smith-train", "smith", "2", "--priority", "inference", "--wait=admitted", "--timeout", "60s")
	start("smith-late", "smith", "1", "--priority", "training")
	start("smith-urgent", "smith", "1", "--priority", "fine-tuning")

	type row struct {
		Team                                            string
		Nominal, Used, Borrowed, Lent, Free, Borrowable *float64
	}
	var doc struct{ Quota []row }
	if err := json.Unmarshal([]byte(admin.ok("get-quota", "--resource", "gpu", "-o", "json")), &doc); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range doc.Quota {
		if r.Team == "john" || r.Team == "smith" {
			got[r.Team] = fmt.Sprint(*r.Nominal, *r.Used, *r.Borrowed, *r.Lent, *r.Free, *r.Borrowable)
		}
	}
	if got["john"] != "12 8 0 4 0 0" || got["smith"] != "4 8 4 0 0 0" {
		t.Errorf("nominal, used, borrowed, lent, free, borrowable: %v", got)
	}
	t.Run("queue", func(t *testing.T) { queueTruth(t, bed, admin.in(t)) })
	t.Run("member", func(t *testing.T) { quotaOfMember(t, bed) })
	t.Run("batch user", func(t *testing.T) { batchUser(t, bed) })
	noJobs(admin, "hyperpod-ns-john", "hyperpod-ns-smith")
}

type queueDocument struct {
	Pending []struct {
		Position                        int
		Name, Reason, Summary, Workload string
	}
	Total struct{ Running, Waiting int }
	Order string
}

// queueTruth compares the order with Kueue's visibility API and kueuectl.
func queueTruth(t *testing.T, bed *cluster.Bed, admin user) {
	ask := func(args ...string) queueDocument {
		t.Helper()
		var d queueDocument
		if err := json.Unmarshal([]byte(admin.ok(append([]string{"get-queue", "-o", "json"}, args...)...)), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	own := ask("smith")
	if own.Order != "Visibility" || len(own.Pending) != 2 || own.Total.Running != 1 || own.Total.Waiting != 2 {
		t.Fatalf("get-queue smith: %+v", own)
	}
	if own.Pending[0].Name != "smith-urgent" || own.Pending[1].Name != "smith-late" || own.Pending[0].Reason != "WaitingForQuota" || own.Pending[0].Summary != "4 more gpu needed" {
		t.Errorf("get-queue smith: %+v", own.Pending)
	}
	computed := queueDocument{}
	for _, p := range ask().Pending {
		if strings.HasPrefix(p.Name, "smith-") {
			computed.Pending = append(computed.Pending, p)
		}
	}
	var theirs struct {
		Items []struct {
			Metadata               struct{ Name string }
			PositionInClusterQueue int
		}
	}
	if err := bed.Get(t.Context(), "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/hyperpod-ns-smith-clusterqueue/pendingworkloads", &theirs); err != nil {
		t.Fatal(err)
	}
	for i, w := range theirs.Items {
		for name, d := range map[string]queueDocument{"own": own, "computed": computed} {
			if i >= len(d.Pending) || d.Pending[i].Workload != w.Metadata.Name || d.Pending[i].Position != w.PositionInClusterQueue+1 {
				t.Errorf("%s order: place %d is %+v, Kueue says %+v", name, i, d.Pending, w)
			}
		}
	}
	if len(theirs.Items) != 2 {
		t.Errorf("Kueue says %+v", theirs.Items)
	}
}

// quotaOfMember runs both commands with the rights of one team only.
func quotaOfMember(t *testing.T, bed *cluster.Bed) {
	kubeconfig, err := bed.MemberKubeconfig(t.Context(), "smith")
	if err != nil {
		t.Fatal(err)
	}
	m := newUser(t, kubeconfig)
	for _, args := range [][]string{{"get-quota", "-o", "table"}, {"get-quota", "smith", "-o", "table"}, {"get-queue", "-o", "table"}, {"get-queue", "smith", "-o", "table"}} {
		r := m.run(args...)
		if r.code != 0 {
			t.Fatalf("%v: exit code %d: %s%s", args, r.code, r.stdout, r.stderr)
		}
		notes := strings.Count(r.stderr, "note:")
		if notes != 1 || !strings.Contains(r.stderr, "permission to list") || !strings.Contains(r.stderr, "clusterqueues") {
			t.Errorf("%v says on stderr:\n%s", args, r.stderr)
		}
		switch args[0] {
		case "get-quota":
			if !strings.Contains(r.stdout, "smith") || !strings.Contains(r.stdout, "?") || strings.Contains(r.stdout, "john") {
				t.Errorf("%v shows:\n%s", args, r.stdout)
			}
		default:
			if !strings.Contains(r.stdout, "smith-urgent") || !strings.Contains(r.stdout, "4 more gpu needed") || strings.Index(r.stdout, "smith-urgent") > strings.Index(r.stdout, "smith-late") {
				t.Errorf("%v shows:\n%s", args, r.stdout)
			}
		}
	}
	if r := m.run("get-quota", "john", "-o", "table"); r.code != 5 || !strings.Contains(r.stderr, `team or queue "john" not found`) {
		t.Errorf("another team's quota: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}
