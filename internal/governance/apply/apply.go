// Package apply makes the operations of a governance plan on a cluster, with server-side
// apply.
package apply

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Manager is the field manager of what is applied.
const Manager = "hyperpod-governance"

// Options are the options of Run and Check.
type Options struct {
	// Force takes over fields that others manage.
	Force bool
	// Done is called after each operation; nil: not.
	Done func(policy.Operation)
}

// resources are the kinds of operations.
var resources = map[string]kinds.Resource{
	kinds.Namespace.Kind: kinds.Namespace, kinds.WorkloadPriorityClass.Kind: kinds.WorkloadPriorityClass, kinds.ResourceFlavor.Kind: kinds.ResourceFlavor,
	kinds.Cohort.Kind: kinds.Cohort, kinds.ClusterQueue.Kind: kinds.ClusterQueue, kinds.LocalQueue.Kind: kinds.LocalQueue,
}

// Failure is the error of an operation.
type Failure struct {
	Operation policy.Operation
	// Done and Left are the operations before and from this one on.
	Done, Left []policy.Operation
	Err        error
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Check sends all operations as a dry run, so that the API server and Kueue's webhooks
// refuse what they would refuse before anything changes. Objects in a namespace that is
// yet to be created cannot be checked.
func Check(ctx context.Context, c *kube.Client, ops []policy.Operation, o Options) error {
	created := map[string]bool{}
	for i, op := range ops {
		if op.Kind == kinds.Namespace.Kind && op.Action == policy.Create {
			created[op.Name] = true
		}
		if created[op.Namespace] {
			continue
		}
		if err := one(ctx, c, op, o.Force, true); err != nil {
			return &Failure{op, nil, ops[i:], err}
		}
	}
	return nil
}

// Run makes the operations in their order and stops at the first failure.
func Run(ctx context.Context, c *kube.Client, ops []policy.Operation, o Options) error {
	for i, op := range ops {
		err := ctx.Err()
		if err == nil {
			err = one(ctx, c, op, o.Force, false)
		}
		if err != nil && !carriedOut(ctx, c, op, err) {
			return &Failure{op, ops[:i], ops[i:], err}
		}
		if o.Done != nil {
			o.Done(op)
		}
	}
	return nil
}

// ChangedError is the error of an object that somebody else changed, created or deleted after it was read for the plan.
type ChangedError struct {
	// Managers are the managed fields of the object; nil when it is gone.
	Managers []metav1.ManagedFieldsEntry
	Gone     bool
}

func (e *ChangedError) Error() string {
	if e.Gone {
		return "the object is gone"
	}
	return "the object changed since the plan"
}

// mostTries is how often a change is sent while the status of its object keeps changing.
const mostTries = 10

// one makes an operation on the object that it was planned for.
func one(ctx context.Context, c *kube.Client, op policy.Operation, force, dryRun bool) error {
	r, ok := resources[op.Kind]
	if !ok {
		return fmt.Errorf("cannot apply a %s", op.Kind)
	}
	r, err := served(ctx, c, r)
	if err != nil {
		return err
	}
	for range mostTries {
		var version string
		if version, err = unmoved(ctx, c, r, op); err != nil {
			return err
		}
		if err = send(ctx, c, r, op, version, force, dryRun); !kube.IsModified(err) {
			return err
		}
	}
	return err
}

// unmoved returns the resourceVersion of the object that an operation changes, "" where there is none yet. It is an error
// if the object is not as it was read: its generation counts changes of all but the metadata and the status. Namespaces
// have no generation; the operation concerns only their labels, which have owners.
func unmoved(ctx context.Context, c *kube.Client, r kinds.Resource, op policy.Operation) (string, error) {
	if op.Kind == kinds.Namespace.Kind {
		return "", nil
	}
	var object struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	err := c.Get(ctx, r, op.Namespace, op.Name, &object)
	switch now := object.Metadata; {
	case kube.IsNotFound(err) && op.Action == policy.Update:
		return "", &ChangedError{Gone: true}
	case kube.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	case op.Before == nil || now.UID != op.Before.GetUID() || now.Generation != op.Before.GetGeneration():
		return "", &ChangedError{Managers: now.ManagedFields}
	default:
		return now.ResourceVersion, nil
	}
}

// send makes an operation, if the object has a resourceVersion of this version only.
func send(ctx context.Context, c *kube.Client, r kinds.Resource, op policy.Operation, version string, force, dryRun bool) error {
	if op.Action == policy.Delete {
		err := c.Delete(ctx, r, op.Namespace, op.Name, kube.DeleteOptions{UID: string(op.Before.GetUID()), DryRun: dryRun})
		if kube.IsNotFound(err) {
			return nil
		}
		return err
	}
	object := op.Body()
	if r.Version == "v1beta1" {
		object = policy.V1Beta1(object)
	}
	if version != "" {
		metadata := map[string]any{"resourceVersion": version}
		maps.Copy(metadata, object["metadata"].(map[string]any))
		object = maps.Clone(object)
		object["metadata"] = metadata
	}
	return c.Change(ctx, r, op.Namespace, op.Name, kube.ApplyPatch, object, kube.ChangeOptions{DryRun: dryRun, FieldManager: Manager, Force: force}, nil)
}

// served returns a kind at the version that the cluster serves.
func served(ctx context.Context, c *kube.Client, r kinds.Resource) (kinds.Resource, error) {
	if r.Group == "" {
		return r, nil
	}
	versions, err := c.ServedVersions(ctx, r.Group)
	if err != nil {
		return r, err
	}
	for _, v := range r.Versions() {
		if slices.Contains(versions, v) {
			r.Version = v
			return r, nil
		}
	}
	return r, kube.NotServed(r)
}

// Managers returns the managed fields of an object: who owns which fields since when.
func Managers(ctx context.Context, c *kube.Client, r kinds.Resource, namespace, name string) ([]metav1.ManagedFieldsEntry, error) {
	r, err := served(ctx, c, r)
	if err != nil {
		return nil, err
	}
	var object struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	err = c.Get(ctx, r, namespace, name, &object)
	return object.Metadata.ManagedFields, err
}

// Inactive is a ClusterQueue that Kueue does not use after the change.
type Inactive struct{ Queue, Reason, Message string }

// Wait waits until Kueue has looked at the changed ClusterQueues and returns those that
// it does not use. The end of the context ends it; what is not Active by then counts.
func Wait(ctx context.Context, c *kube.Client, ops []policy.Operation, tick <-chan time.Time) ([]Inactive, error) {
	var left []string
	for _, op := range ops {
		if op.Kind == kinds.ClusterQueue.Kind && op.Action != policy.Delete && !stopped(op) {
			left = append(left, op.Name)
		}
	}
	r, err := served(ctx, c, kinds.ClusterQueue)
	if err != nil {
		return nil, err
	}
	last := map[string]Inactive{}
	for {
		var still []string
		for _, name := range left {
			in, err := inactive(ctx, c, r, name)
			switch {
			case err != nil && ctx.Err() == nil:
				return nil, err
			case err != nil:
				still = append(still, name)
			case in != nil:
				still, last[name] = append(still, name), *in
			}
		}
		if left = still; len(left) == 0 {
			return nil, nil
		}
		select {
		case <-tick:
		case <-ctx.Done():
			var out []Inactive
			for _, name := range left {
				in := last[name]
				in.Queue = name
				out = append(out, in)
			}
			return out, nil
		}
	}
}

// stopped reports a ClusterQueue that is to be stopped: it does not become active.
func stopped(op policy.Operation) bool {
	q, ok := op.After.(*kueue.ClusterQueue)
	return ok && ptr.Deref(q.Spec.StopPolicy, kueue.None) != kueue.None
}

// inactive returns why a queue is not active, nil when it is.
func inactive(ctx context.Context, c *kube.Client, r kinds.Resource, name string) (*Inactive, error) {
	var q struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Status   struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := c.Get(ctx, r, "", name, &q); err != nil {
		return nil, err
	}
	switch cond := apimeta.FindStatusCondition(q.Status.Conditions, "Active"); {
	case cond == nil:
		return &Inactive{Queue: name}, nil
	case cond.Status == metav1.ConditionTrue && (cond.ObservedGeneration == 0 || cond.ObservedGeneration >= q.Metadata.Generation):
		return nil, nil
	default:
		return &Inactive{name, cond.Reason, cond.Message}, nil
	}
}
