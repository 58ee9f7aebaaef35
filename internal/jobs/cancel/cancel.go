// Package cancel deletes a job and the objects that were submitted with it.
package cancel

import (
	"context"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Job is a job to cancel.
type Job struct {
	Kind                 kinds.Job
	Namespace, Name, UID string
	// With are the objects that were submitted with it (submit.Together).
	With []submit.Ref
}

// Delete deletes the job; a dry run only validates the request. The UID makes sure that a job of the same name
// made meanwhile survives.
func Delete(ctx context.Context, c *kube.Client, j Job, dryRun bool) error {
	return c.Delete(ctx, j.Kind.Resource, j.Namespace, j.Name, kube.DeleteOptions{Propagation: "Background", UID: j.UID, DryRun: dryRun})
}

// DeleteTogether deletes the objects that were submitted with a job. The cluster itself deletes those that the
// job owns; this is for the others. It returns them as kind/name, those that it could not delete with the reason.
func DeleteTogether(ctx context.Context, c *kube.Client, j Job) (deleted, left []string) {
	for _, ref := range j.With {
		what := strings.ToLower(ref.Kind) + "/" + ref.Name
		r, err := discovery.ResourceOf(ctx, c, map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind})
		object := map[string]any{}
		if err == nil {
			err = c.Get(ctx, r, j.Namespace, ref.Name, &object)
		}
		if err == nil && submit.SubmittedWith(object, j.Kind.Kind, j.Name) {
			err = c.Delete(ctx, r, j.Namespace, ref.Name, kube.DeleteOptions{Propagation: "Background", UID: kinds.Text(object, "metadata", "uid")})
		} else if err == nil {
			continue // it belongs to another job by now
		}
		switch {
		case err == nil, kube.IsNotFound(err):
			deleted = append(deleted, what)
		default:
			left = append(left, fmt.Sprintf("%s: %v", what, err))
		}
	}
	return deleted, left
}
