package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/features"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// ErrUnknownJob is returned (wrapped) for an object for which Kueue makes no Workload, or whose integration this package
// does not have.
var ErrUnknownJob = errors.New("not a job kind that the admission checker supports")

// ErrPrebuilt is returned (wrapped) for a job that names a Workload that somebody else makes, with [ErrUnknownJob].
var ErrPrebuilt = errors.New("the job names a prebuilt workload")

// ErrNotManaged is returned (wrapped) for a job that Kueue does not manage: a RayJob on an existing cluster has no pods
// of its own.
var ErrNotManaged = errors.New("Kueue does not manage it")

// SupportedJobs lists the kinds that [WorkloadFor] accepts.
func SupportedJobs() []schema.GroupVersionKind {
	out := make([]schema.GroupVersionKind, 0, len(integrations()))
	for _, in := range integrations() {
		out = append(out, in.gvk)
	}
	return out
}

// parseJob reads one job object (JSON or YAML) into Kueue's integration for its
// kind, completed with the defaults an API server and the kind's operator set.
func parseJob(data []byte) (jobframework.GenericJob, []byte, error) {
	gj, js, _, err := readJob(data)
	return gj, js, err
}

func readJob(data []byte) (jobframework.GenericJob, []byte, *integration, error) {
	js, err := utilyaml.ToJSON(data)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("job: %w", err)
	}
	var head metav1.TypeMeta
	if err := json.Unmarshal(js, &head); err != nil {
		return nil, nil, nil, fmt.Errorf("job: %w", err)
	}
	gvk := head.GroupVersionKind()
	i := slices.IndexFunc(integrations(), func(in integration) bool {
		return strings.EqualFold(in.gvk.Kind, gvk.Kind) && in.gvk.Group == gvk.Group
	})
	if i < 0 {
		return nil, nil, nil, fmt.Errorf("%s %s: %w", head.APIVersion, head.Kind, ErrUnknownJob)
	}
	in := &integrations()[i]
	if in.gvk.Version != gvk.Version {
		return nil, nil, nil, fmt.Errorf("%s %s: version %s is needed: %w", head.APIVersion, head.Kind, in.gvk.Version, ErrUnknownJob)
	}
	job := in.new()
	if err := json.Unmarshal(js, job.Object()); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", gvk.Kind, err)
	}
	if in.defaults != nil {
		in.defaults(job.Object())
	}
	return job, js, in, nil
}

// ErrRefused is returned (wrapped) for a job that Kueue's webhook refuses.
var ErrRefused = errors.New("refused by Kueue")

// Validate runs the validation of Kueue's webhooks on a new job: JSON or YAML, with the labels of the request.
func Validate(ctx context.Context, job []byte) error {
	gj, _, in, err := readJob(job)
	if err != nil {
		return err
	}
	gateElastic(gj.Object())
	var own func() error
	if in.validate != nil {
		own = func() error { return in.validate(ctx, gj.Object()) }
	}
	return refusal(gj, own, func() (field.ErrorList, error) {
		all := jobframework.ValidateJobOnCreate(gj)
		custom, ok := gj.(jobframework.JobWithCustomValidation)
		if !ok {
			return all, nil
		}
		more, err := custom.ValidateOnCreate(ctx)
		return append(all, more...), err
	})
}

// refusal runs the validation of a kind's own webhook, or else the rules of every kind.
func refusal(job jobframework.GenericJob, own func() error, rules func() (field.ErrorList, error)) error {
	var bad error
	err := embedded.Guard(job.GVK().Kind+" "+job.Object().GetName(), func() error {
		if own != nil {
			bad = own()
			return nil
		}
		all, err := rules()
		if err == nil {
			bad = all.ToAggregate()
		}
		return err
	})
	if err != nil || bad == nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrRefused, bad)
}

// WorkloadFor returns the Workload Kueue's job controller would create for a job
// given as JSON or YAML (ConstructWorkload and prepareWorkload in Kueue's
// jobframework/reconciler.go): name, owner reference, queue, pod sets, priority,
// active. Creation time and UID are left to the caller.
//
// A job without a queue label gets a workload without a queue; whether Kueue
// manages such jobs at all is the caller's knowledge. Errors: [ErrUnknownJob],
// JSON that does not fit the kind, a priority class that does not exist, a
// topology annotation that is not valid.
func WorkloadFor(ctx context.Context, job []byte, lookup Lookup) (*kueue.Workload, error) {
	gj, _, err := parseJob(job)
	if err != nil {
		return nil, err
	}
	var wl *kueue.Workload
	err = embedded.Guard(gj.GVK().Kind+" "+gj.Object().GetName(), func() error {
		wl, err = workloadFor(ctx, gj, clientFor(lookup))
		return err
	})
	if err != nil {
		return nil, err
	}
	return wl, nil
}

// OwnPriorityClass returns the name of the PriorityClass that a job of a Kubeflow kind has in
// its scheduling policy or pods, "" for a job without one.
func OwnPriorityClass(job []byte) string {
	gj, _, err := parseJob(job)
	if err != nil {
		return ""
	}
	name := ""
	if own, ok := gj.(jobframework.JobWithPriorityClass); ok {
		_ = embedded.Guard(gj.GVK().Kind+" "+gj.Object().GetName(), func() error { // a job that panics has no class
			name = own.PriorityClass()
			return nil
		})
	}
	return name
}

func workloadFor(ctx context.Context, gj jobframework.GenericJob, c client.Client) (*kueue.Workload, error) {
	obj, gvk := gj.Object(), gj.GVK()
	what := fmt.Sprintf("%s %s", gvk.Kind, obj.GetName())
	if obj.GetName() == "" {
		return nil, fmt.Errorf("%s: metadata.name is missing", gvk.Kind)
	}
	if name := jobframework.PrebuiltWorkloadNameFor(obj); name != "" {
		return nil, fmt.Errorf("%s: uses %s: %w: %w", what, name, ErrPrebuilt, ErrUnknownJob)
	}
	if s, ok := gj.(jobframework.JobWithSkip); ok && s.Skip(ctx) {
		return nil, fmt.Errorf("%s: %w", what, ErrNotManaged)
	}
	podSets, err := jobframework.JobPodSets(ctx, gj, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if len(podSets) == 0 {
		return nil, fmt.Errorf("%s: it has no pods", what)
	}
	name := jobframework.GetWorkloadNameForOwnerWithGVK(obj.GetName(), obj.GetUID(), gvk)
	wl := jobframework.NewWorkload(name, obj, podSets, nil, nil)
	wl.TypeMeta = metav1.TypeMeta{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload"}
	if wl.Labels == nil {
		wl.Labels = map[string]string{}
	}
	if uid := string(obj.GetUID()); uid != "" && len(validation.IsValidLabelValue(uid)) == 0 {
		wl.Labels[constants.JobUIDLabel] = uid
	}
	wl.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(obj, gvk)}
	jobframework.PropagateAdmissionGatedByAnnotation(obj, wl)

	var own func() string
	if p, ok := gj.(jobframework.JobWithPriorityClass); ok {
		own = p.PriorityClass
	}
	if err := jobframework.PrepareWorkloadPriority(ctx, c, obj, wl, own); err != nil {
		return nil, fmt.Errorf("%s: priority class: %w", what, err)
	}
	if !features.Enabled(features.PartialAdmission) {
		for i := range wl.Spec.PodSets {
			wl.Spec.PodSets[i].MinCount = nil
		}
	}
	wl.Spec.Active = ptr.To(true)
	return wl, nil
}
