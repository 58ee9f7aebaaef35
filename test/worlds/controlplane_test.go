package worlds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
	"github.com/hyperpod-cli/hyperpod/test/live"
)

// controlPlane is a real API server with Kueue as the place of a world. Each team has a user with the role that Kueue ships
// for people who run jobs; most may also create pods, and suspend jobs.
type controlPlane struct {
	t       *testing.T
	bed     *cluster.Bed
	client  *kube.Client
	dir     string
	configs map[string]string // kubeconfigs by user
	nodes   []string
}

// members are the users of the teams, in the order of teams. The first one has no permission to create pods, nor to change
// Workloads, which suspends a job.
var members = []string{"ada", "grace", "linus", "barbara", "dennis"}

// gates make Kueue say why each job waits: see live.Rest.
var gates = map[string]bool{"UnadmittedWorkloadsObservability": true, "SchedulingEquivalenceHashing": false}

// newControlPlane starts a bed with the teams of the scenario.
func newControlPlane(t *testing.T) *controlPlane {
	p := &controlPlane{t: t, bed: cluster.ForTest(t, cluster.Options{KueueFeatureGates: gates}), configs: map[string]string{}}
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(live.ApplyScenario(ctx, p.bed, scenario, false))
	target, err := kube.Locate(kube.Location{Kubeconfig: p.bed.Kubeconfig}, func(string) string { return "" })
	must(err)
	p.client, err = kube.New(target.Config, kube.Options{})
	must(err)
	rules, err := p.bed.BatchUserRules(ctx)
	must(err)
	p.configs[administrator] = p.bed.Kubeconfig
	for i, user := range members {
		if i == 1 {
			rules = append(slices.Clone(rules), cluster.Rule{Groups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create", "delete", "get", "list", "watch", "patch"}},
				cluster.Rule{Groups: []string{kinds.Workload.Group}, Resources: []string{kinds.Workload.Plural}, Verbs: []string{"patch"}})
		}
		p.configs[user], err = p.bed.UserKubeconfig(ctx, user, cluster.Namespace(teams[i]), rules)
		must(err)
	}
	out, err := p.bed.Kubectl(ctx, "get", "nodes", "-o", "name")
	must(err)
	p.nodes = strings.Fields(strings.ReplaceAll(out, "node/", ""))
	return p
}

// fresh removes all jobs and takes all changes back.
func (p *controlPlane) fresh(ctx context.Context, dir string) error {
	p.dir = dir
	for _, team := range teams {
		for _, path := range []string{"/apis/kubeflow.org/v1/namespaces/%s/pytorchjobs", "/apis/batch/v1/namespaces/%s/jobs", "/api/v1/namespaces/%s/pods", "/apis/kueue.x-k8s.io/v1beta2/namespaces/%s/workloads"} {
			if _, err := p.bed.Request(ctx, http.MethodDelete, fmt.Sprintf(path, cluster.Namespace(team)), "application/json", []byte(`{"propagationPolicy":"Background"}`)); err != nil {
				return err
			}
		}
	}
	if err := live.ApplyScenario(ctx, p.bed, scenario, false); err != nil {
		return err
	}
	if _, err := p.bed.Kubectl(ctx, append([]string{"uncordon"}, p.nodes...)...); err != nil {
		return err
	}
	return p.settle(ctx, nil)
}

func (p *controlPlane) env(user string) map[string]string {
	home := filepath.Join(p.dir, "home-"+user)
	return map[string]string{"HOME": home, "USER": user, "TZ": "UTC", "KUBECONFIG": p.configs[user]}
}

func (p *controlPlane) now() time.Time { return time.Now() }

func (p *controlPlane) tick() {}

func (p *controlPlane) preamble() string { return "# on a control plane with the scenario " + scenario }

func (p *controlPlane) change(ctx context.Context, s step) error {
	_, err := p.bed.Kubectl(ctx, s.kubectl...)
	return err
}

func (p *controlPlane) preview(ctx context.Context, s step) (string, error) {
	return p.bed.Kubectl(ctx, append(slices.Clone(s.kubectl), "--dry-run=server", "-o", "yaml")...)
}

func (p *controlPlane) held(ctx context.Context) (map[string]bool, error) {
	var list struct{ Items []*kueue.Workload }
	if err := p.bed.Get(ctx, kinds.Workload.Path("", ""), &list); err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, w := range list.Items {
		if live.QuotaOf(w).Status != "True" || live.ConditionOf(w, kueue.WorkloadFinished).Status == "True" {
			continue
		}
		name := w.Name // of a pod group
		if o := w.OwnerReferences[0]; o.Kind != "Pod" {
			name = o.Name
		}
		out[w.Namespace+"/"+name] = true
	}
	return out, nil
}

// removed reports that Kueue deleted a pod: that of a pod group which it preempted.
func (p *controlPlane) removed(ctx context.Context, namespace, name string) (bool, error) {
	var list struct{ Items []struct{ Reason string } }
	err := p.bed.Get(ctx, "/api/v1/namespaces/"+namespace+"/events?fieldSelector=involvedObject.name="+name+",reason=Stopped", &list)
	return isGroup(name) && len(list.Items) > 0, err
}

// steps makes a sequence. The name of a job tells its kind. Some commands are about the jobs of other teams.
func (p *controlPlane) steps(r *rand.Rand, n int) []step {
	job := func() string { return fmt.Sprintf("%s%d", pick(r, []string{"j", "j", "b", "g"}), r.IntN(2)) }
	var out []step
	for range n {
		at := r.IntN(len(teams))
		s := step{user: members[at], namespace: cluster.Namespace(teams[at])}
		if r.IntN(15) == 0 {
			s.user = pick(r, members)
		}
		name := job()
		switch k := r.IntN(24); {
		case k < 10:
			s.start(name, flagsOf(r, name))
		case k < 13:
			s.about(name, "cancel-job", "--yes")
		case k < 15:
			s.about(name, "patch-job "+pick(r, []string{"suspend", "unsuspend"}))
			if s.user == members[0] {
				s.lacks = "permission to patch workloads.kueue.x-k8s.io"
			}
		case k < 17:
			if isGroup(name) { // its pods have one class
				name = "j0"
			}
			s.about(name, "patch-job priority", "--priority", class(r))
		case k < 20:
			s.finish(name)
		case k < 22:
			s.changeQuota(r, teams[at])
		default:
			s = step{kubectl: []string{pick(r, []string{"cordon", "uncordon"}), pick(r, p.nodes)}}
		}
		s.forbidden = s.kubectl == nil && (s.user != members[at] || isGroup(name) && s.user == members[0])
		out = append(out, s)
	}
	return out
}

// class is a priority class by its full name: the role of the users has no permission to read which ones there are.
func class(r *rand.Rand) string { return pick(r, priorities) + "-priority" }

// flagsOf are the flags that start a job of a name.
func flagsOf(r *rand.Rand, name string) (flags []string) {
	gpus := pick(r, []string{"1", "4", "8"})
	switch {
	case isGroup(name):
		flags = []string{"-f", "testdata/group.yaml", "--set", "GPUS=" + gpus}
	case strings.HasPrefix(name, "b"):
		flags = []string{"-f", "testdata/job.yaml", "--set", fmt.Sprint("PODS=", 1+r.IntN(3)), "--set", "GPUS=" + gpus}
	default:
		flags = pytorch(r)
	}
	return append(flags, "--priority", class(r))
}

// finish makes the step one that ends the pods of a job.
func (s *step) finish(job string) {
	label := "training.kubeflow.org/job-name"
	switch {
	case isGroup(job):
		label = kinds.PodGroupName
	case strings.HasPrefix(job, "b"):
		label = "batch.kubernetes.io/job-name"
	}
	*s = step{kubectl: []string{"annotate", "pods", "-n", s.namespace, "-l", label + "=" + job, "testbed/complete-after=0s", "--overwrite"}}
}

// object is what settle reads of an object.
type object struct {
	Metadata struct {
		Name, Namespace, UID, ResourceVersion string
		DeletionTimestamp                     *string
		Labels                                map[string]string
		OwnerReferences                       []struct{ UID string }
	}
	Spec struct {
		NodeName         string
		PriorityClassRef *struct{ Name string }
	}
	Status struct {
		Phase      string
		Conditions []struct{ Type, Status string }
	}
}

func (o object) key() string { return o.Metadata.Namespace + "/" + o.Metadata.Name }

func (o object) finished() bool {
	for _, c := range o.Status.Conditions {
		if c.Status == "True" && slices.Contains([]string{"Succeeded", "Failed", "Complete", "Finished"}, c.Type) {
			return true
		}
	}
	return o.Status.Phase == "Succeeded" || o.Status.Phase == "Failed"
}

func (o object) grouped() bool { return o.Metadata.Labels[kinds.PodGroupName] != "" }

// quiet is how long nothing may change: Kueue tries all waiting jobs again a second after a node changes.
const quiet = 1500 * time.Millisecond

// settle waits until no object has changed for a while, each job has its Workload, and Kueue is at rest.
func (p *controlPlane) settle(ctx context.Context, _ *world) error {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	var last map[string]string
	var since time.Time
	return p.bed.WaitFor(ctx, "the world to settle", func(ctx context.Context) error {
		versions, err := p.look(ctx)
		if err != nil {
			last = nil
			return err
		}
		if !maps.Equal(versions, last) {
			last, since = versions, time.Now()
		}
		if time.Since(since) < quiet {
			return errors.New("objects change")
		}
		_, err = live.Rest(ctx, p.client, gates)
		return err
	})
}

// look returns the versions of all objects, and an error while one is about to change.
func (p *controlPlane) look(ctx context.Context) (map[string]string, error) {
	lists := map[string][]object{}
	versions := map[string]string{}
	for _, path := range []string{"kubeflow.org/v1/pytorchjobs", "batch/v1/jobs", "v1/pods", "kueue.x-k8s.io/v1beta2/workloads", "kueue.x-k8s.io/v1beta2/clusterqueues", "kueue.x-k8s.io/v1beta2/localqueues"} {
		prefix, plural := "/apis/", path[strings.LastIndexByte(path, '/')+1:]
		if plural == "pods" {
			prefix = "/api/"
		}
		var list struct{ Items []object }
		if err := p.bed.Get(ctx, prefix+path, &list); err != nil {
			return nil, err
		}
		lists[plural] = list.Items
		for _, o := range list.Items {
			versions[plural+" "+o.Metadata.UID] = o.Metadata.ResourceVersion
			if o.Metadata.DeletionTimestamp != nil && !(o.grouped() && o.finished()) {
				return nil, fmt.Errorf("%s %s is being deleted", plural, o.key())
			}
		}
	}
	owned, named, owners := map[string]object{}, map[string]object{}, map[string]bool{}
	for _, w := range lists["workloads"] {
		named[w.key()] = w
		for _, o := range w.Metadata.OwnerReferences {
			owned[o.UID] = w
		}
	}
	governed := func(what string, o, w object) error {
		class := ""
		if w.Spec.PriorityClassRef != nil {
			class = w.Spec.PriorityClassRef.Name
		}
		switch want := o.Metadata.Labels[kinds.PriorityLabel]; {
		case w.Metadata.UID == "":
			return fmt.Errorf("%s %s has no Workload", what, o.key())
		case class != want:
			return fmt.Errorf("%s %s has the class %s, its Workload %s", what, o.key(), want, class)
		}
		return nil
	}
	for _, plural := range []string{"pytorchjobs", "jobs"} {
		for _, o := range lists[plural] {
			owners[o.Metadata.UID] = true
			if !o.finished() {
				if err := governed(plural, o, owned[o.Metadata.UID]); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, o := range lists["pods"] {
		owners[o.Metadata.UID] = true
		if o.finished() {
			continue
		}
		if o.Spec.NodeName != "" && o.Status.Phase == "Pending" {
			return nil, fmt.Errorf("pod %s is about to run", o.key())
		}
		if group := o.Metadata.Labels[kinds.PodGroupName]; group != "" {
			if err := governed("pods", o, named[o.Metadata.Namespace+"/"+group]); err != nil {
				return nil, err
			}
		}
	}
	for _, w := range lists["workloads"] {
		if !slices.ContainsFunc(w.Metadata.OwnerReferences, func(o struct{ UID string }) bool { return owners[o.UID] }) {
			return nil, fmt.Errorf("workload %s has lost its job", w.key())
		}
	}
	return versions, nil
}

// TestWorldsOnKueue runs random worlds on the real control plane (`make worlds`).
func TestWorldsOnKueue(t *testing.T) {
	worlds, steps, first := setting(t, "HYPERPOD_KUEUE_WORLDS", 0), setting(t, "HYPERPOD_KUEUE_STEPS", 20), setting(t, "HYPERPOD_SEED", 1)
	if worlds == 0 {
		t.Skip("set HYPERPOD_KUEUE_WORLDS")
	}
	p := newControlPlane(t)
	checked := playAll(t, p, worlds, steps, first)
	fmt.Printf("worlds on Kueue: %d steps, checked after each, from seed %d on\n", checked, first)
}
