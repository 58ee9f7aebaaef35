package admissioncheck

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kinds/trainruntime"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Prerequisites reads what the cluster has of what the pods of a job need: objects[job] of the objects of a submission, which
// bring some of it themselves. What the user has no permission to read, and what fails, is left out. A snapshot has only the
// runtimes of jobs.
func Prerequisites(ctx context.Context, c *factory.Cluster, namespace string, objects []map[string]any, job int) *prerequisite.Found {
	if job < 0 {
		return nil
	}
	out := &prerequisite.Found{}
	object := runtime(ctx, c, namespace, objects, job, out)
	if c.Snapshot != nil {
		return out
	}
	refs := slices.DeleteFunc(prerequisite.References(prerequisite.PodsOf(object)), func(r prerequisite.Reference) bool {
		return slices.ContainsFunc(objects, func(o map[string]any) bool {
			return kinds.Text(o, "kind") == r.Resource.Kind && kinds.Text(o, "metadata", "name") == r.Name
		})
	})
	absent, volumes := make([]bool, len(refs)), make([]*prerequisite.Volume, len(refs))
	var wg crash.Group
	wg.Go(func() {
		page, err := kube.List[*corev1.ResourceQuota](ctx, c.Client, kinds.ResourceQuota, namespace, kube.ListOptions{})
		if err == nil {
			out.Quotas = page.Items
		}
	})
	for i, ref := range refs {
		wg.Go(func() {
			if ref.Resource.Kind == kinds.PersistentVolumeClaim.Kind {
				absent[i], volumes[i] = claim(ctx, c, namespace, ref.Name)
				return
			}
			err := c.Get(ctx, ref.Resource, namespace, ref.Name, nil)
			absent[i] = kube.IsNotFound(err) && !kube.IsNotServed(err)
		})
	}
	wg.Wait()
	for i, ref := range refs {
		if absent[i] {
			out.Absent = append(out.Absent, ref)
		}
		if volumes[i] != nil {
			out.Volumes = append(out.Volumes, *volumes[i])
		}
	}
	return out
}

// runtime reads the runtime that a job names, or takes it from the objects of the submission. It returns the job with the pods
// that the runtime describes.
func runtime(ctx context.Context, c *factory.Cluster, namespace string, objects []map[string]any, job int, out *prerequisite.Found) map[string]any {
	object := objects[job]
	k, _ := kinds.JobFor(kinds.Text(object, "apiVersion"), kinds.Text(object, "kind"))
	with, _, err := trainruntime.With(k, object, func(ref kinds.Reference) map[string]any {
		for _, o := range objects {
			if kinds.Text(o, "kind") == ref.Kind && kinds.Text(o, "metadata", "name") == ref.Name {
				out.Runtime = o
				return o
			}
		}
		var found map[string]any
		at := ref.Resource
		if at.Namespaced {
			ref.Namespace = namespace
		}
		switch err := c.Get(ctx, at, ref.Namespace, ref.Name, &found); {
		case err == nil:
			out.Runtime = found
		case kube.IsNotFound(err) && !kube.IsNotServed(err):
			out.Absent = append(out.Absent, prerequisite.Reference{Resource: at, Name: ref.Name})
		default:
			out.RuntimeUnread = true
		}
		return out.Runtime
	})
	if err != nil {
		return object
	}
	return with
}

// claim reads a PersistentVolumeClaim. It reports whether the claim does not exist, and returns the nodes that its volume is
// limited to, nil for none.
func claim(ctx context.Context, c *factory.Cluster, namespace, name string) (absent bool, _ *prerequisite.Volume) {
	var pvc corev1.PersistentVolumeClaim
	if err := c.Get(ctx, kinds.PersistentVolumeClaim, namespace, name, &pvc); err != nil {
		return kube.IsNotFound(err) && !kube.IsNotServed(err), nil
	}
	if pvc.Spec.VolumeName == "" {
		return false, nil
	}
	var pv corev1.PersistentVolume
	if err := c.Get(ctx, kinds.PersistentVolume, "", pvc.Spec.VolumeName, &pv); err != nil || pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return false, nil
	}
	return false, &prerequisite.Volume{Claim: name, Nodes: *pv.Spec.NodeAffinity.Required}
}
