package startjob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/choices"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// fromCluster fills in what the user left open: namespace, what nodes offer, queue and priority.
func (r *run) fromCluster(ctx context.Context, t *parse.Template, s settings) (values.Values, error) {
	ns, err := r.inNamespace(ctx, r.cluster, s.namespace, jobKind(t).Resource)
	if err != nil {
		return s.Values, err
	}
	if s.stated != "" && s.stated != ns.Name {
		r.once(fmt.Sprintf("--namespace %s overrides the namespace %s of the manifest", ns.Name, s.stated))
	}
	s.Namespace = ns.Name
	switch {
	case r.options.Edit: // an editor takes longer than what was read stays true
	case r.options.DryRun == admission:
		r.startReading(ctx, ns.Name, 0)
	case r.foresees():
		r.startReading(ctx, ns.Name, r.patience)
	}
	if note := resumeNote(s.AutoResume, ns.Name); note != "" {
		r.once(note)
	}
	if err := r.fromNodes(ctx, ns, &s.Values); err != nil {
		return s.Values, err
	}
	if s.scheduler == sageMaker && !ns.Managed {
		return s.Values, errs.New("cannot use --scheduler-type SageMaker", fmt.Sprintf("namespace %s has no team quota from SageMaker", ns.Name)).
			Suggest(errs.Option("--scheduler-type", kueueQueue), errs.Option("--scheduler-type", noScheduler)).WithAdvice("leave --scheduler-type out, or choose another")
	}
	if err := r.chooseQueue(ctx, ns, t, &s); err != nil {
		return s.Values, err
	}
	return s.Values, r.choosePriority(ctx, t, &s)
}

// inNamespace resolves the namespace once: a team's template is read from it before the job is rendered.
func (r *run) inNamespace(ctx context.Context, c *factory.Cluster, name string, kind kinds.Resource) (discovery.NamespaceChoice, error) {
	if r.scope != nil {
		return *r.scope, nil
	}
	ns, err := r.factory.NamespaceNamed(ctx, c, name, "create", kind)
	if err == nil {
		r.scope = &ns
	}
	return ns, err
}

// chooseQueue sets the LocalQueue of the job.
func (r *run) chooseQueue(ctx context.Context, ns discovery.NamespaceChoice, t *parse.Template, s *settings) error {
	if s.scheduler == noScheduler {
		return nil
	}
	wanted := cmp.Or(s.queue, resolve.Queue(t, s.Values))
	s.QueueChosen = s.queue == ""
	queue, err := discovery.Queue(ctx, r.cluster.Client, ns, wanted)
	if err != nil {
		if !r.report(err, "Queue") {
			return err
		}
		queue.Name = wanted
	}
	r.once(choices.Texts(queue.Notes)...)
	s.Queue = queue.Name
	return nil
}

// answersInWords reports a dry run that prints the findings about one job.
func (r *run) answersInWords(t *parse.Template) bool {
	format, err := r.factory.Format()
	return r.options.DryRun == admission && err == nil && format.IsTable() && len(jobKindsOf(t)) == 1 && len(r.options.Axes) == 0
}

// choosePriority sets the priority class of the job: Kueue's, or the pods' where Kueue does not queue the job.
func (r *run) choosePriority(ctx context.Context, t *parse.Template, s *settings) error {
	if s.scheduler == noScheduler || s.scheduler == kueueQueue && s.priority != "" && s.Queue == "" {
		s.PodPriorityClass = s.priority
		return nil
	}
	wanted := cmp.Or(s.priority, resolve.Label(t, s.Values, kinds.PriorityLabel))
	if wanted == "" && s.Queue == "" {
		return nil
	}
	priority, err := discovery.Priority(ctx, r.cluster.Client, wanted)
	if err != nil {
		if !r.report(err, "PriorityClass") {
			return withoutPriority(err)
		}
		priority.Name = wanted
	}
	if wanted != "" || len(jobKindsOf(t)) > 0 && resolve.PodPriority(t, s.Values) == "" {
		if !r.answersInWords(t) { // the answer has W006
			r.once(choices.Texts(priority.Notes)...)
		}
	}
	s.Priority = priority.Name
	return nil
}

// withoutPriority adds to the error about a priority class that none is needed.
func withoutPriority(err error) error {
	var e *errs.Error
	if errors.As(err, &e) && e.Code == errs.NotFound {
		return e.WithAdvice("leave --priority out to rank lowest")
	}
	return err
}

// jobKind returns the kind of job that a template makes, PyTorchJob if it makes none that is known.
func jobKind(t *parse.Template) kinds.Job {
	if all := jobKindsOf(t); len(all) > 0 {
		return all[0]
	}
	return kinds.PyTorchJob
}

// jobKindsOf returns the kinds of job among those of a template.
func jobKindsOf(t *parse.Template) (out []kinds.Job) {
	for _, name := range t.Kinds() {
		if k, ok := kinds.JobNamed(name); ok {
			out = append(out, k)
		}
	}
	return out
}

// resumeNote warns where HyperPod's documentation promises no automatic resume: outside the namespace kubeflow and
// namespaces that begin with hyperpod.
func resumeNote(on bool, namespace string) string {
	if !on || namespace == "kubeflow" || strings.HasPrefix(namespace, "hyperpod") {
		return ""
	}
	return "HyperPod resumes jobs only in the namespace kubeflow and in namespaces that begin with hyperpod, not in " + namespace
}

// fromNodes reads nodes in two cases only. An instance type newer than the table is accepted if the cluster has a node of
// it, with what that node offers. And in a namespace without a team quota the cluster may not be a HyperPod cluster: then
// no node has a health label, and the affinity of the templates to healthy nodes would keep the job pending for ever. A
// user without permission to list nodes gets what the table and the template state.
func (r *run) fromNodes(ctx context.Context, ns discovery.NamespaceChoice, v *values.Values) error {
	if _, known := instances.Lookup(v.InstanceType); !known && v.InstanceType != "" {
		nodes, err := nodesWith(ctx, r.cluster, kinds.InstanceTypeLabel+"="+instances.Full(v.InstanceType))
		if err != nil {
			return err
		}
		if len(nodes) > 0 {
			v.Node = &values.Node{Allocatable: nodes[0].Status.Allocatable}
		}
	}
	if !ns.Managed {
		healthy, err := nodesWith(ctx, r.cluster, kinds.NodeHealthLabel)
		if err != nil {
			return err
		}
		if healthy != nil && len(healthy) == 0 {
			v.HealthAffinity = new(bool)
		}
	}
	return nil
}

type node struct {
	Status struct {
		Allocatable map[string]string `json:"allocatable"`
	} `json:"status"`
}

// nodesWith returns the nodes that match a label selector, nil without permission to list them.
func nodesWith(ctx context.Context, c *factory.Cluster, selector string) ([]node, error) {
	page, err := kube.List[node](ctx, c.Client, kinds.Node, "", kube.ListOptions{LabelSelector: selector})
	if kube.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if page.Items == nil {
		page.Items = []node{}
	}
	return page.Items, nil
}
