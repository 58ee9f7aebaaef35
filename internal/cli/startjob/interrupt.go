package startjob

import (
	"context"
	"errors"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// cancelWithin is how long a job's deletion may take after Ctrl-C.
const cancelWithin = 30 * time.Second

// interrupted does what --on-interrupt says if err is the end of a wait by Ctrl-C.
func (r *run) interrupted(ctx context.Context, object submit.Object, created map[string]any, err error) error {
	if err == nil || !errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	if r.options.OnInterrupt != cancelJob {
		return waitjob.Continues(ctx, err, kinds.Text(created, "metadata", "namespace"), object.Name(), r.last)
	}
	deleting, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelWithin)
	defer stop()
	deleted := r.cluster.Delete(deleting, object.Resource, kinds.Text(created, "metadata", "namespace"), object.Name(),
		kube.DeleteOptions{Propagation: "Background", UID: kinds.Text(created, "metadata", "uid")})
	if deleted != nil && !kube.IsNotFound(deleted) {
		return errs.Also(errs.Wrap(deleted, "cannot cancel job "+object.Name()), waitjob.Continues(ctx, err, kinds.Text(created, "metadata", "namespace"), object.Name(), r.last))
	}
	return factory.Interrupted("cancelled job " + object.Name())
}
