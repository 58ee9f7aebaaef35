package jobs

import (
	"fmt"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func TestOwnerOf(t *testing.T) {
	for name, c := range map[string]struct {
		metadata, owner string
		source          OwnerSource
		text            string
	}{
		"label first":         {`"labels": {"sagemaker.user/created-by": "ada"}, "annotations": {"cli.hyperpod/created-by": "bob"}`, "ada", FromLabel, "ada"},
		"annotation":          {`"annotations": {"cli.hyperpod/created-by": "bob"}, "managedFields": [{"manager": "eve"}]`, "bob", FromAnnotation, "bob"},
		"a person's manager":  {`"managedFields": [{"manager": "alice", "operation": "Apply", "time": "2026-01-02T03:04:05Z", "fieldsV1": {"f:spec": {}}}]`, "alice", FromManagedFields, "~alice"},
		"the earliest":        {`"managedFields": [{"manager": "bob", "time": "2026-01-02T04:00:00Z"}, {"manager": "alice", "time": "2026-01-02T03:04:05Z"}]`, "alice", FromManagedFields, "~alice"},
		"kubectl is nobody":   {`"managedFields": [{"manager": "kubectl-create", "time": "2026-01-02T03:04:05Z"}, {"manager": "bob", "time": "2026-01-02T04:00:00Z"}]`, "", "", ""},
		"a controller":        {`"managedFields": [{"manager": "training-operator.v1"}]`, "", "", ""},
		"only the status":     {`"managedFields": [{"manager": "bob", "subresource": "status"}]`, "", "", ""},
		"creation is no more": {`"managedFields": [{"manager": "bob", "time": "2026-01-02T04:00:00Z"}]`, "", "", ""},
		"nothing":             {`"managedFields": null`, "", "", ""},
	} {
		for _, kind := range []string{kinds.PyTorchJob.Kind, "TrainJob"} {
			k, ok := kinds.JobNamed(kind)
			if !ok {
				t.Fatal(kind)
			}
			j, err := state.DecodeJob(k, fmt.Appendf(nil, `{"metadata": {"name": "j", "creationTimestamp": "2026-01-02T03:04:05Z", %s}}`, c.metadata))
			if err != nil {
				t.Fatal(err)
			}
			if owner, source := OwnerOf(j); owner != c.owner || source != c.source || OwnerText(j) != c.text {
				t.Errorf("%s, %s: %q %q %q", name, kind, owner, source, OwnerText(j))
			}
		}
	}
}
