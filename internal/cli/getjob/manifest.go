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

// manifest returns the job as it could be submitted again: without its status,
// without what the cluster wrote on it, and without the node selectors that Kueue
// put into its pod templates when it started it.
func manifest(ctx context.Context, f *factory.Factory, c *factory.Cluster, j findjob.Job) (map[string]any, error) {
	data, err := json.Marshal(j.Object)
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	switch w, err := rawWorkload(ctx, c, j); {
	case kube.IsForbidden(err):
		f.Notef("note: Kueue's Workload may not be read: node selectors that Kueue set are left in")
	case err != nil && !kube.IsNotServed(err):
		return nil, err
	case w != nil:
		restored, err := admission.RestoreJob(ctx, data, w)
		if err != nil {
			f.Notef("note: node selectors that Kueue set are left in: %v", err)
			break
		}
		data = restored
	}
	if err := kube.Decode(data, &object); err != nil {
		return nil, errs.Wrap(err, "the job cannot be understood")
	}
	jobobject.Resubmit(object)
	return object, nil
}

// rawWorkload returns the job's Workload that is not finished as JSON, nil where
// there is none.
func rawWorkload(ctx context.Context, c *factory.Cluster, j findjob.Job) ([]byte, error) {
	r, err := reader.Served(ctx, c.Client, kinds.Workload)
	if err != nil {
		return nil, err
	}
	page, err := kube.List[json.RawMessage](ctx, c.Client, r, j.Namespace, kube.ListOptions{LabelSelector: kinds.JobUIDLabel + "=" + j.UID()})
	if err != nil || len(page.Items) == 0 {
		return nil, err
	}
	var o map[string]any
	if err := kube.Decode(page.Items[len(page.Items)-1], &o); err != nil {
		return nil, err
	}
	o["apiVersion"], o["kind"] = r.GroupVersion(), r.Kind // a list's items do not say
	return json.Marshal(o)
}
