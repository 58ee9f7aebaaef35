package integration

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/validation/field"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/webhooks"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// ValidateUpdate runs the validation of Kueue's webhooks on a change of a job. defaultQueue
// reports whether the job's namespace has a LocalQueue named "default".
func ValidateUpdate(ctx context.Context, old, job []byte, defaultQueue bool) error {
	before, _, _, err := readJob(old)
	if err != nil {
		return err
	}
	after, _, in, err := readJob(job)
	if err != nil {
		return err
	}
	// A kind's own webhook asks the manager's queues about the default queue when the
	// label is removed. Without a manager, the rules of every kind have to do.
	unqueued := jobframework.QueueName(before) != "" && jobframework.QueueName(after) == ""
	var own func() error
	if in.validateUpdate != nil && !unqueued {
		own = func() error { return in.validateUpdate(ctx, before.Object(), after.Object()) }
	}
	return refusal(after, own, func() (field.ErrorList, error) {
		all := jobframework.ValidateJobOnUpdate(before, after, func(string) bool { return defaultQueue })
		custom, ok := after.(jobframework.JobWithCustomValidation)
		if !ok {
			return all, nil
		}
		more, err := custom.ValidateOnUpdate(ctx, before)
		return append(all, more...), err
	})
}

// ValidatePolicy runs the validation of Kueue's webhooks on a ClusterQueue, Cohort,
// ResourceFlavor or Workload, given as JSON. old is nil for a new object. It returns nil
// for other kinds.
func ValidatePolicy(kind string, old, object []byte) error {
	var all field.ErrorList
	err := embedded.Guard(kind, func() (err error) {
		switch kind {
		case "ClusterQueue":
			all, err = validatePolicy(old, object, webhooks.ValidateClusterQueue, webhooks.ValidateClusterQueueUpdate)
		case "Cohort":
			var c kueue.Cohort
			if err = json.Unmarshal(object, &c); err == nil {
				_, err = new(webhooks.CohortWebhook).ValidateCreate(context.Background(), &c)
			}
		case "ResourceFlavor":
			all, err = validatePolicy(old, object, webhooks.ValidateResourceFlavor, nil)
		case "Workload":
			all, err = validatePolicy(old, object, func(w *kueue.Workload) field.ErrorList { return webhooks.ValidateWorkload(w, nil) },
				func(old, w *kueue.Workload) field.ErrorList { return webhooks.ValidateWorkloadUpdate(w, old) })
		}
		return err
	})
	if err == nil {
		err = all.ToAggregate()
	}
	return err
}

// validatePolicy decodes an object and calls the function for a new or a changed one.
func validatePolicy[T any](old, object []byte, create func(*T) field.ErrorList, update func(old, o *T) field.ErrorList) (field.ErrorList, error) {
	o := new(T)
	if err := json.Unmarshal(object, o); err != nil {
		return nil, err
	}
	if old == nil || update == nil {
		return create(o), nil
	}
	before := new(T)
	if err := json.Unmarshal(old, before); err != nil {
		return nil, err
	}
	return update(before, o), nil
}
