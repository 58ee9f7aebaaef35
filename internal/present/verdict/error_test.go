package verdict

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
)

// Every code of the admission check's errors has a sentence, an exit code and its cause.
func TestErrors(t *testing.T) {
	cause := errors.New("negative replicas")
	supported := []schema.GroupVersionKind{{Group: "kubeflow.org", Version: "v1", Kind: "PyTorchJob"}}
	for _, tt := range []struct {
		err  error
		want string
		code errs.Exit
	}{
		{&check.Error{Code: check.UnknownKind, APIVersion: "x/v1", Kind: "Job", Supported: supported, Err: integration.ErrUnknownJob}, "cannot check a Job (x/v1): Kueue has no integration for this kind", errs.Usage},
		{&check.Error{Code: check.UnknownKind, APIVersion: "kubeflow.org/v2", Kind: "PyTorchJob", Supported: supported}, "cannot check a PyTorchJob (kubeflow.org/v2): Kueue governs it as kubeflow.org/v1", errs.Usage},
		{&check.Error{Code: check.Prebuilt, Kind: "Job", Name: "x", Err: cause}, "cannot check Job x: its label kueue.x-k8s.io/prebuilt-workload-name names a Workload, and Kueue decides about that one", errs.Usage},
		{&check.Error{Code: check.NoMetadata}, "cannot check the job: it has no metadata", errs.Usage},
		{&check.Error{Code: check.WrongType, Kind: "Job", Name: "x", Field: "spec.parallelism", Value: "string"}, "cannot check Job x: spec.parallelism has the wrong type: string", errs.Usage},
		{&check.Error{Code: check.WrongFields, Kind: "Job", Err: cause}, "cannot check Job: its fields do not fit the kind", errs.Usage},
		{&check.Error{Code: check.Unusable, Name: "x", Err: cause}, "cannot check x: negative replicas", errs.Usage},
		{&check.Error{Code: check.Undecided, Name: "x", Err: cause}, "cannot check x: negative replicas", errs.Failure},
		{&inputs.RulesError{Err: cause}, "cannot check with the rules of the cluster: negative replicas", errs.Failure},
		{cause, "negative replicas", errs.Failure},
	} {
		got := Error(tt.err)
		if got.Error() != tt.want || errs.ExitOf(got) != tt.code || !errors.Is(got, tt.err) {
			t.Errorf("%v: %q, exit code %d", tt.err, got, errs.ExitOf(got))
		}
	}
	if Error(nil) != nil {
		t.Error("no error became one")
	}
}

// One pod is a pod.
func TestLimitOfOnePod(t *testing.T) {
	for amount, want := range map[string]string{
		"1": "resourcequota q allows 1 pod; the pods need 2",
		"0": "resourcequota q allows 0 pods; the pods need 2",
	} {
		got := overText(&prerequisite.Exceeded{Quota: "q", Resource: "pods", Hard: resource.MustParse(amount), Needs: resource.MustParse("2")})
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
