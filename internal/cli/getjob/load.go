package getjob

import (
	"context"
	"slices"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listpods"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/deviceuse"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// report holds what the page of one job shows.
type report struct {
	job       state.Job
	workload  *state.Workload
	workloads []state.Workload // of the namespace
	order     order.Rules      // of the workloads
	queue     *state.ClusterQueue
	pods      []state.Pod
	events    []state.Event
	nodes     []state.Node // nil where they were not read
	console   string
	unseen    []string // what the user has no permission to read
	// use is how busy its accelerators are, nil where that is not known.
	use *deviceuse.Use
}

// loader reads the parts of a report in parallel. It collects what the user has no
// permission to read; the page is made without it.
type loader struct {
	c *factory.Cluster

	mu     sync.Mutex
	group  crash.Group
	failed error
	unseen []string
}

// unread notes what the page lacks.
func (l *loader) unread(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unseen = append(l.unseen, what)
}

func (l *loader) start(read func() error) {
	l.group.Go(func() {
		err := read()
		l.mu.Lock()
		defer l.mu.Unlock()
		switch {
		case err == nil || kube.IsNotServed(err) || kube.IsNotFound(err):
		case kube.IsForbidden(err):
			l.unseen = append(l.unseen, err.Error())
		default:
			l.failed = err
		}
	})
}

// load reads what belongs to a job.
func load(ctx context.Context, c *factory.Cluster, found findjob.Job) (report, error) {
	job, err := found.State()
	if err != nil {
		return report{}, err
	}
	r := report{job: job}
	l := &loader{c: c}
	l.start(func() (err error) {
		r.workloads, err = state.ListWorkloads(ctx, c.Client, job.Namespace, kube.ListOptions{})
		return err
	})
	l.start(func() (err error) {
		r.pods, err = listpods.Pods(ctx, c.Client, job)
		return err
	})
	l.group.Wait()
	if l.failed != nil {
		return report{}, l.failed
	}
	r.workload = jobs.Match([]state.Job{job}, r.workloads)[0]
	var rules order.Reader
	r.order = rules.Rules(ctx, c.Client, r.workloads)
	return l.surroundings(ctx, r)
}

// surroundings reads what the page shows besides job, workload and pods.
func (l *loader) surroundings(ctx context.Context, r report) (report, error) {
	var events [3][]state.Event
	about := func(i int, selector string) {
		l.start(func() (err error) {
			events[i], err = state.ListEvents(ctx, l.c.Client, r.job.Namespace, kube.ListOptions{FieldSelector: selector})
			return err
		})
	}
	about(0, "involvedObject.name="+r.job.Name)
	if r.workload != nil {
		about(1, "involvedObject.name="+r.workload.Name)
	}
	if slices.ContainsFunc(r.pods, func(p state.Pod) bool { return jobs.TroubleOf(p) != (jobs.PodTrouble{}) || p.Restarts > 0 }) {
		about(2, "involvedObject.kind=Pod,type=Warning")
	}
	if w := r.workload; w != nil && w.Admission != nil {
		l.start(func() error {
			q, err := state.GetClusterQueue(ctx, l.c.Client, w.Admission.ClusterQueue)
			if err == nil {
				r.queue = &q
			}
			return err
		})
	}
	if r.runs() {
		l.start(func() (err error) {
			if r.nodes, err = state.ListNodes(ctx, l.c.Client, kube.ListOptions{}); kube.IsForbidden(err) {
				l.unread("the health of nodes: " + jobtext.NodesUnread(state.ReasonOf(err)))
				return nil
			}
			r.console = consoleOf(l.c, r.nodes)
			return err
		})
	} else {
		l.start(func() error {
			r.console = console(ctx, l.c)
			return nil
		})
	}
	l.group.Wait()
	if l.failed != nil {
		return report{}, l.failed
	}
	r.events = r.mine(slices.Concat(events[:]...))
	slices.Sort(l.unseen)
	r.unseen = slices.Compact(l.unseen)
	return r, nil
}

// mine keeps the events about the job, its workload and its pods, each once,
// oldest first.
func (r report) mine(all []state.Event) []state.Event {
	about := map[string]bool{r.job.UID: true}
	if r.workload != nil {
		about[r.workload.UID] = true
	}
	for _, p := range r.pods {
		about[p.UID] = true
	}
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(e state.Event) bool {
		again := seen[e.UID] && e.UID != ""
		seen[e.UID] = true
		return again || !about[e.ObjectUID]
	})
	slices.SortStableFunc(all, func(a, b state.Event) int { return a.Last.Compare(b.Last) })
	return all
}

// runs reports whether pods of the job are on nodes, whose health then matters.
func (r report) runs() bool {
	return slices.ContainsFunc(r.pods, func(p state.Pod) bool { return p.NodeName != "" })
}

// resilience joins what was read about the job's faults.
func (r report) resilience() jobs.Resilience {
	return jobs.ResilienceOf(r.job, r.events, r.pods, r.nodes)
}

// console returns the URL of the HyperPod cluster in the AWS console; "" if the cluster does not run on EKS.
func console(ctx context.Context, c *factory.Cluster) string {
	site, ok := discovery.SiteOf(c.Server(), c.Context, c.ClusterName)
	if !ok {
		return ""
	}
	return site.ClusterConsole(discovery.HyperPodName(ctx, c.Client))
}

// consoleOf is console for nodes that were read.
func consoleOf(c *factory.Cluster, nodes []state.Node) string {
	site, ok := discovery.SiteOf(c.Server(), c.Context, c.ClusterName)
	if !ok {
		return ""
	}
	for _, n := range nodes {
		if name := n.Labels[kinds.ClusterNameLabel]; name != "" {
			return site.ClusterConsole(name)
		}
	}
	return site.ClusterConsole("")
}
