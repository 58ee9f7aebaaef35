package cancel

import (
	"context"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// podFinalizer keeps a deleted pod of a group until Kueue, or somebody, removes it.
const podFinalizer = "kueue.x-k8s.io/managed"

// member is what Release reads of a pod of a group, and of its Workload.
type member struct {
	Metadata struct {
		Name              string            `json:"name"`
		UID               string            `json:"uid"`
		ResourceVersion   string            `json:"resourceVersion"`
		DeletionTimestamp string            `json:"deletionTimestamp"`
		Finalizers        []string          `json:"finalizers"`
		Annotations       map[string]string `json:"annotations"`
	} `json:"metadata"`
}

// Release makes Kueue release the quota of a pod group whose pods are being deleted. Kueue keeps such pods and their quota, because
// others may replace them, until the Workload of the group is deleted or the pods lose their finalizer. Release deletes the
// Workload; without the permission for that, it removes the finalizers. If pods of the group are left, it changes nothing and
// returns their names. (FindMatchingWorkloads and Stop in Kueue's pod_controller.go, v0.19)
func Release(ctx context.Context, c *kube.Client, namespace, group string) (left []string, err error) {
	page, err := kube.List[member](ctx, c, kinds.Pod, namespace, kube.ListOptions{LabelSelector: kinds.PodGroupName + "=" + group})
	if kube.IsForbidden(err) {
		return nil, nil // it cannot be seen whether Kueue keeps any
	}
	if err != nil {
		return nil, err
	}
	held := page.Items[:0:0]
	for _, p := range page.Items {
		if p.Metadata.DeletionTimestamp == "" {
			left = append(left, p.Metadata.Name)
		} else if slices.Contains(p.Metadata.Finalizers, podFinalizer) {
			held = append(held, p)
		}
	}
	if len(left) > 0 || len(held) == 0 {
		return left, nil
	}
	if err = deleteWorkload(ctx, c, namespace, group); !kube.IsForbidden(err) && !kube.IsNotFound(err) {
		return nil, err
	}
	for _, p := range held {
		rest := slices.DeleteFunc(slices.Clone(p.Metadata.Finalizers), func(f string) bool { return f == podFinalizer })
		body := map[string]any{"metadata": map[string]any{"finalizers": rest, "resourceVersion": p.Metadata.ResourceVersion}}
		if failed := c.Change(ctx, kinds.Pod, namespace, p.Metadata.Name, kube.MergePatch, body, kube.ChangeOptions{}, nil); failed != nil && !kube.IsNotFound(failed) {
			return nil, failed
		}
	}
	return nil, nil
}

// deleteWorkload deletes the Workload of a pod group, and none that another job has.
func deleteWorkload(ctx context.Context, c *kube.Client, namespace, group string) error {
	var w member
	if err := c.Get(ctx, kinds.Workload, namespace, group, &w); err != nil {
		return err
	}
	if w.Metadata.Annotations[kinds.GroupWorkload] != "true" {
		return nil
	}
	return c.Delete(ctx, kinds.Workload, namespace, group, kube.DeleteOptions{UID: w.Metadata.UID})
}
