package getjob

import (
	"context"
	"encoding/json"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
)

// manifest returns the job as a manifest to submit again: without its status, without
// the fields that the cluster wrote, and without the node selectors that Kueue set in
// its pod templates at admission.
func manifest(ctx context.Context, f *factory.Factory, c *factory.Cluster, j findjob.Job, restore Restore) (map[string]any, error) {
	data, err := json.Marshal(j.Object)
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	var w []byte
	if j.Kind.Placed() {
		w, err = findtemplate.WorkloadOf(ctx, c.Client, j)
	}
	switch {
	case kube.IsForbidden(err):
		f.Notef("note: node selectors set by Kueue are kept: no permission to list its Workloads")
	case err != nil && !kube.IsNotServed(err):
		return nil, err
	case w != nil && j.Kind.Itself: // Kueue changes the pod itself
		sets, err := findtemplate.PodSets(w)
		if err != nil {
			return nil, errs.Wrap(err, "cannot decode the Workload")
		}
		if err := kube.Decode(data, &object); err != nil {
			return nil, errs.Wrap(err, "cannot decode the job")
		}
		jobobject.RestorePlacement(object, sets)
		jobobject.Resubmit(object)
		return object, nil
	case w != nil:
		restored, err := restore(ctx, data, w)
		if err != nil {
			f.Notef("note: node selectors set by Kueue are kept: %v", err)
			break
		}
		data = restored
	}
	if err := kube.Decode(data, &object); err != nil {
		return nil, errs.Wrap(err, "cannot decode the job")
	}
	jobobject.Resubmit(object)
	return object, nil
}
