package getjob

import (
	"context"
	"encoding/json"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
)

// manifest returns the job as a manifest to submit again: without its status, without
// the fields that the cluster wrote, and without the node selectors that Kueue set in
// its pod templates at admission.
func manifest(ctx context.Context, f *factory.Factory, c *factory.Cluster, j findjob.Job) (map[string]any, error) {
	data, err := json.Marshal(j.Object)
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	switch w, err := rawWorkload(ctx, c, j); {
	case kube.IsForbidden(err):
		f.Notef("note: node selectors set by Kueue are kept: no permission to list its Workloads")
	case err != nil && !kube.IsNotServed(err):
		return nil, err
	case w != nil:
		restored, err := admission.RestoreJob(ctx, data, w)
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

// rawWorkload returns the job's unfinished Workload as JSON, nil if there is none.
func rawWorkload(ctx context.Context, c *factory.Cluster, j findjob.Job) ([]byte, error) {
	r, err := reader.Served(ctx, c.Client, kinds.Workload)
	if err != nil {
		return nil, err
	}
	page, err := kube.List[json.RawMessage](ctx, c.Client, r, j.Namespace, kube.ListOptions{LabelSelector: j.Kind.WorkloadSelector(j.UID())})
	if err != nil || len(page.Items) == 0 {
		return nil, err
	}
	var o map[string]any
	if err := kube.Decode(page.Items[len(page.Items)-1], &o); err != nil {
		return nil, err
	}
	o["apiVersion"], o["kind"] = r.GroupVersion(), r.Kind // items of a list lack them
	return json.Marshal(o)
}
