// Package submit creates the objects of a job: once, all of them or none.
package submit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// API is what submitting needs of a cluster; *kube.Client has it.
type API interface {
	Create(ctx context.Context, r kinds.Resource, namespace string, body any, o kube.CreateOptions, into any) error
	Get(ctx context.Context, r kinds.Resource, namespace, name string, into any) error
	Delete(ctx context.Context, r kinds.Resource, namespace, name string, o kube.DeleteOptions) error
}

// Object is one object to create.
type Object struct {
	Resource kinds.Resource
	Body     map[string]any
}

// Name returns the object's metadata.name.
func (o Object) Name() string { return kinds.Text(o.Body, "metadata", "name") }

func (o Object) String() string {
	return strings.ToLower(o.Resource.Kind) + " " + o.Name()
}

// Request is one submission.
type Request struct {
	Namespace string
	// Objects are created in this order; the job is one of them.
	Objects []Object
	// Key is the idempotency key, also to be found in the job's annotation, or empty.
	Key string
	// Manager is the field manager of the creates. It has to be unique to this
	// submission: by it an object is recognised as ours after a lost answer.
	Manager string
	// DryRun asks the server to check only.
	DryRun bool
}

// Result is what a submission did.
type Result struct {
	// Created holds the objects as the server returned them, in order.
	Created []map[string]any
	// Reused: an earlier submission with the same idempotency key had created the job.
	Reused bool
}

// Submit creates the objects. When one fails, those created before it are
// removed again, and what could not be removed is named in the error.
func Submit(ctx context.Context, api API, req Request) (Result, error) {
	var res Result
	var ours []Object // made by this submission, as the server returned them
	for _, o := range req.Objects {
		made, reused, err := create(ctx, api, req, o)
		if err != nil {
			return Result{}, rollback(ctx, api, req, ours, err)
		}
		if reused {
			res.Reused = true
		} else {
			ours = append(ours, Object{Resource: o.Resource, Body: made})
		}
		res.Created = append(res.Created, made)
	}
	return res, nil
}

func create(ctx context.Context, api API, req Request, o Object) (made map[string]any, reused bool, err error) {
	options := kube.CreateOptions{DryRun: req.DryRun, FieldValidation: "Strict", FieldManager: req.Manager}
	made = map[string]any{}
	err = api.Create(ctx, o.Resource, req.Namespace, o.Body, options, &made)
	if kube.Unclear(err) {
		// The answer was lost. The object may exist: look, and only when it does not
		// try once more; a second create makes no duplicate, because the name is exact.
		found, ours, lookErr := lookUp(ctx, api, req, o)
		if ours {
			return found, false, nil
		}
		if !kube.IsNotFound(lookErr) && lookErr != nil || ctx.Err() != nil {
			return nil, false, unsure(o, req, err)
		}
		made = map[string]any{}
		err = api.Create(ctx, o.Resource, req.Namespace, o.Body, options, &made)
		if kube.Unclear(err) {
			if found, ours, _ := lookUp(ctx, api, req, o); ours {
				return found, false, nil
			}
			return nil, false, unsure(o, req, err)
		}
	}
	if err == nil {
		return made, false, nil
	}
	if kube.IsAlreadyExists(err) {
		found, ours, _ := lookUp(ctx, api, req, o)
		if ours {
			return found, false, nil
		}
		if req.Key != "" && kinds.Text(found, "metadata", "annotations", kinds.IdempotencyAnnotation) == req.Key {
			return found, true, nil
		}
		return nil, false, exists(o, req, found, err)
	}
	return nil, false, err
}

// unsure is the error of a create of which nobody knows whether it was carried out.
func unsure(o Object, req Request, cause error) error {
	return errs.Wrap(cause, fmt.Sprintf("it is not known whether %s %q was created", o.Resource.Kind, o.Name())).
		WithTry(fmt.Sprintf("hyperpod list-jobs -n %s shows it", req.Namespace))
}

// lookUp reads the object and says whether this submission made it. Ctrl-C does
// not end it: who gave up wants to know all the more what is left.
func lookUp(ctx context.Context, api API, req Request, o Object) (found map[string]any, ours bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	found = map[string]any{}
	if err := api.Get(ctx, o.Resource, req.Namespace, o.Name(), &found); err != nil {
		return nil, false, err
	}
	managers, _ := kinds.At(found, "metadata", "managedFields").([]any)
	for _, m := range managers {
		if entry, ok := m.(map[string]any); ok && req.Manager != "" && entry["manager"] == req.Manager {
			return found, true, nil
		}
	}
	return found, false, nil
}

func exists(o Object, req Request, found map[string]any, cause error) error {
	e := &errs.Error{
		What: fmt.Sprintf("%s %q already exists in %s", o.Resource.Kind, o.Name(), req.Namespace),
		Why:  "nothing was changed", Code: errs.Failure, Cause: cause,
	}
	if since := kinds.Text(found, "metadata", "creationTimestamp"); since != "" {
		e.WithFact("since", since)
	}
	if by := cmp.Or(kinds.Text(found, "metadata", "labels", kinds.CreatedByLabel), kinds.Text(found, "metadata", "annotations", kinds.CreatedByAnnotation)); by != "" {
		e.WithFact("by", by)
	}
	return e.WithTry("another --name, or --generate-name for a suffix", "hyperpod get-job "+o.Name()+" -n "+req.Namespace)
}

func rollback(ctx context.Context, api API, req Request, created []Object, cause error) error {
	if len(created) == 0 || req.DryRun {
		return cause
	}
	// Ctrl-C must not leave half a job behind, so the clean-up has its own deadline.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var left []string
	for _, o := range slices.Backward(created) {
		err := api.Delete(ctx, o.Resource, req.Namespace, o.Name(),
			kube.DeleteOptions{UID: kinds.Text(o.Body, "metadata", "uid"), Propagation: "Background"})
		if err != nil && !kube.IsNotFound(err) {
			left = append(left, o.String())
		}
	}
	e := errs.Wrap(cause, "the job was not submitted")
	if len(left) == 0 {
		return e.WithFact("removed", "what had been created before the failure")
	}
	return e.WithFact("left", strings.Join(left, ", ")+" could not be removed again")
}
