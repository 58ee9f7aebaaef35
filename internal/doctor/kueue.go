package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// kueue examines the API of Kueue, its configuration, and whether its decisions are those
// of the built-in rules.
func kueue(ctx context.Context, s Subject, f *findings) {
	served, err := s.Client.ServedVersions(ctx, kinds.KueueGroup)
	switch {
	case err != nil:
		f.add(nil, failed(Kueue, err), Diagnosis{Code: Configuration, Status: Skipped, Reason: NoAnswer}, Diagnosis{Code: Rules, Status: Skipped, Reason: NoAnswer})
		return
	case len(served) == 0:
		f.add(nil, Diagnosis{Code: Kueue, Status: Fail, Reason: NotServed}, Diagnosis{Code: Configuration, Status: Skipped, Reason: NotServed}, Diagnosis{Code: Rules, Status: Skipped, Reason: NotServed})
		return
	}
	d := Diagnosis{Code: Kueue, Status: OK, Names: served}
	if !slices.Contains(served, "v1beta2") {
		d.Status, d.Reason = Warn, OldVersion
	}
	in := inputs.LoadManager(ctx, s.Client, s.Now())
	d.Version = in.KueueVersion
	f.add(func(doc *Document) { doc.KueueVersion = in.KueueVersion }, d, configuration(ctx, in), rules(ctx, s, in))
}

// configuration examines Kueue's configuration: what the built-in rules do not follow.
func configuration(ctx context.Context, in *inputs.Inputs) Diagnosis {
	d := Diagnosis{Code: Configuration, Status: OK}
	switch in.Manager.State {
	case "":
	case inputs.ManagerForbidden, inputs.ManagerNotInFile:
		d.Status, d.Reason = Skipped, NoPermission
		return d
	case inputs.ManagerUnread:
		d.Status, d.Reason = Skipped, NoAnswer
		return d
	default:
		d.Status, d.Reason = Warn, NotFound
		return d
	}
	_, notes, err := in.Engine(ctx)
	if err != nil {
		return Diagnosis{Code: Configuration, Status: Fail, Reason: Failed, Err: err}
	}
	for _, n := range notes {
		switch {
		case n.Code == inputs.ConfigurationUnknown:
			return Diagnosis{Code: Configuration, Status: Fail, Reason: Unknown}
		case n.Code == inputs.NotModelled && n.Warning != nil:
			d.Notes = append(d.Notes, *n.Warning)
		}
	}
	if len(d.Notes) > 0 {
		d.Status, d.Reason = Warn, Differs
	}
	return d
}

// rules compares the cluster's version with the built-in rules. It names the differences that can matter to the queues
// and the configuration of the cluster.
func rules(ctx context.Context, s Subject, in *inputs.Inputs) Diagnosis {
	d := Diagnosis{Code: Rules, Status: OK, Version: in.KueueVersion}
	switch {
	case in.KueueVersion == "":
		d.Status, d.Reason = Skipped, Unknown
	case in.KueueVersion != versions.BuiltIn:
		d.Status, d.Reason = Warn, Differs
		all, err := inputs.Load(ctx, s.Client, inputs.Options{SkipWorkloads: true}, s.Now())
		if err != nil {
			all = in
		}
		r := all.Rules()
		for _, x := range versions.Between(in.KueueVersion, versions.BuiltIn, all.AnyVersionCase(&r.Config)) {
			d.Names = append(d.Names, string(x.Code))
		}
	}
	return d
}

// deployment is what is read of a Deployment.
type deployment struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Replicas *int `json:"replicas"`
		Template struct {
			Spec struct {
				Containers []struct {
					Image string `json:"image"`
				} `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		Ready int `json:"readyReplicas"`
	} `json:"status"`
}

// controller examines whether Kueue's controller runs.
func controller(ctx context.Context, s Subject, f *findings) {
	var d deployment
	err := s.Client.Get(ctx, kinds.Deployment, state.ManagerNamespace, managerDeployment, &d)
	switch {
	case kube.IsNotFound(err):
		f.add(nil, Diagnosis{Code: Controller, Status: Warn, Reason: NotFound})
	case err != nil:
		f.add(nil, failed(Controller, err))
	default:
		out := Diagnosis{Code: Controller, Status: OK, Count: d.Status.Ready}
		if d.Status.Ready == 0 {
			out.Status, out.Reason = Fail, NotReady
		}
		f.add(nil, out)
	}
}

// managerDeployment is the name of the Deployment of Kueue's controller.
const managerDeployment = "kueue-controller-manager"

// queues examines whether the queues admit workloads.
func queues(ctx context.Context, s Subject, f *findings) {
	var d Diagnosis
	all, err := state.Load(ctx, s.Client, state.Want{ClusterQueues: true}, s.Now())
	if err == nil && len(all.MissingOf(kinds.ClusterQueue)) > 0 {
		err = all.MissingOf(kinds.ClusterQueue)[0].Err
	}
	switch {
	case kube.IsForbidden(err) && !kube.IsNotInFile(err):
		d = localQueues(ctx, s)
	case err != nil:
		d = failed(Queues, err)
	default:
		d = clusterQueues(all.ClusterQueues)
	}
	f.add(nil, d)
}

// clusterQueues finds those that admit nothing.
func clusterQueues(list []state.ClusterQueue) Diagnosis {
	d := Diagnosis{Code: Queues, Status: OK, Of: len(list)}
	for _, q := range list {
		stopped := q.StopPolicy != "" && q.StopPolicy != "None"
		if c, ok := state.Find(q.Conditions, "Active"); stopped || ok && !c.True() {
			d.Names = append(d.Names, q.Name)
		}
	}
	return activity(d)
}

func activity(d Diagnosis) Diagnosis {
	d.Count = len(d.Names)
	switch {
	case d.Of == 0:
		d.Status, d.Reason = Warn, None
	case d.Count > 0:
		d.Status, d.Reason = Warn, NotActive
	}
	return d
}

// localQueues examines those of the user's namespace, for members of a team.
func localQueues(ctx context.Context, s Subject) Diagnosis {
	namespace, err := s.Namespace(ctx)
	if err != nil {
		return Diagnosis{Code: Queues, Status: Skipped, Reason: NoPermission, Err: err}
	}
	own, err := state.Load(ctx, s.Client, state.Want{Namespace: namespace, LocalQueues: true}, s.Now())
	if err == nil && len(own.MissingOf(kinds.LocalQueue)) > 0 {
		err = own.MissingOf(kinds.LocalQueue)[0].Err
	}
	if err != nil {
		return failed(Queues, err)
	}
	d := Diagnosis{Code: Queues, Status: OK, Of: len(own.LocalQueues)}
	for _, q := range own.LocalQueues {
		if c, ok := state.Find(q.Conditions, "Active"); ok && !c.True() {
			d.Names = append(d.Names, q.Namespace+"/"+q.Name)
		}
	}
	return activity(d)
}

// positions examines whether Kueue tells positions in queues.
func positions(ctx context.Context, s Subject, f *findings) {
	served, err := s.Client.ServedVersions(ctx, kinds.VisibilityGroup)
	d := Diagnosis{Code: QueuePositions, Status: OK, Names: served}
	switch {
	case err != nil:
		d = failed(QueuePositions, err)
	case len(served) == 0:
		d.Status, d.Reason = Skipped, NotServed
	}
	f.add(nil, d)
}

// jobKinds examines which kinds of jobs the cluster serves.
func jobKinds(ctx context.Context, s Subject, f *findings) {
	d := Diagnosis{Code: JobKinds, Status: OK}
	groups := map[string]bool{}
	for _, k := range kinds.Jobs() {
		if k.Operator == kinds.Kubernetes {
			continue
		}
		is, seen := groups[k.Group]
		if !seen {
			served, err := s.Client.ServedVersions(ctx, k.Group)
			if err != nil {
				f.add(nil, failed(JobKinds, err))
				return
			}
			is = len(served) > 0
			groups[k.Group] = is
		}
		if is {
			d.Names = append(d.Names, k.Kind)
		}
	}
	if d.Count = len(d.Names); d.Count == 0 {
		d.Status, d.Reason = Warn, None
	}
	f.add(nil, d)
}

// nodes examines the labels by which HyperPod reports the health of nodes.
func nodes(ctx context.Context, s Subject, f *findings) {
	all, err := state.Load(ctx, s.Client, state.Want{Nodes: true}, s.Now())
	if err == nil && len(all.MissingOf(kinds.Node)) > 0 {
		err = all.MissingOf(kinds.Node)[0].Err
	}
	if err != nil {
		f.add(nil, failed(Nodes, err))
		return
	}
	d := Diagnosis{Code: Nodes, Status: OK, Of: len(all.Nodes)}
	var unlabelled []string
	for _, n := range all.Nodes {
		health := n.Labels[kinds.NodeHealthLabel]
		switch {
		case !n.Ready, health != "" && health != kinds.NodeHealthy:
			d.Names = append(d.Names, n.Name)
		case health == "" && accelerated(n):
			unlabelled = append(unlabelled, n.Name)
		}
		if health != "" {
			d.Count++
		}
	}
	switch {
	case d.Of == 0:
		d.Status, d.Reason = Warn, None
	case len(d.Names) > 0:
		d.Status, d.Reason = Warn, Unhealthy
	case d.Count > 0 && len(unlabelled) > 0:
		d.Status, d.Reason, d.Names = Warn, Missing, unlabelled
	}
	f.add(nil, d)
}

// accelerated reports a node with accelerators.
func accelerated(n state.Node) bool {
	for name, amount := range n.Allocatable {
		if amount > 0 && kinds.Accelerator(name) {
			return true
		}
	}
	return false
}

// short returns the last part of a name with slashes.
func short(name string) string { return name[strings.LastIndex(name, "/")+1:] }
