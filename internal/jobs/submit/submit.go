// Package submit creates the objects of a job: once, all of them or none.
package submit

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// API is what submitting needs of a cluster; *kube.Client has it.
type API interface {
	Create(ctx context.Context, r kinds.Resource, namespace string, body any, o kube.CreateOptions, into any) error
	Get(ctx context.Context, r kinds.Resource, namespace, name string, into any) error
	Delete(ctx context.Context, r kinds.Resource, namespace, name string, o kube.DeleteOptions) error
	Change(ctx context.Context, r kinds.Resource, namespace, name string, t kube.PatchType, body any, o kube.ChangeOptions, into any) error
	Update(ctx context.Context, r kinds.Resource, namespace, name string, body any, o kube.ChangeOptions, into any) error
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
	// Objects are created in this order. Job is the place of the job among them, -1
	// where there is none.
	Objects []Object
	Job     int
	// Key is the idempotency key, which an annotation of the job holds too, or "".
	Key string
	// Manager is the field manager of the creates. It must be unique to this submission:
	// it identifies objects of this submission after a lost answer.
	Manager string
	// DryRun makes the server check without creating anything.
	DryRun bool
	// Replace changes the other objects that exist and differ.
	Replace bool
}

// Action is what a submission did with an object, as kubectl words it.
type Action string

// The actions.
const (
	Created    Action = "created"
	Unchanged  Action = "unchanged"
	Configured Action = "configured"
)

// Result is what a submission did.
type Result struct {
	// Objects are the objects as the server returned them, in order, and Actions
	// what was done with each.
	Objects []map[string]any
	Actions []Action
	// Reused reports that an earlier submission with the same key and definition created
	// the job.
	Reused bool
}

// Submit creates all objects or none: if one fails, Submit removes those that it created,
// restores those that it changed, and names in the error what it could not undo. An
// object other than the job that already exists stays unchanged if it matches the
// manifest; otherwise Submit returns an error with the difference, or changes it with
// Replace.
func Submit(ctx context.Context, api API, req Request) (Result, error) {
	var res Result
	found, err := look(ctx, api, &req)
	if err != nil {
		return res, err
	}
	identify(req)
	bind(req.Objects, req.Job, func(i int) bool { return found[i] == nil })
	var undo []step
	for i, o := range req.Objects {
		var made map[string]any
		action, reused := Created, false
		if found[i] != nil {
			made, action, err = existing(ctx, api, req, o, found[i], nil)
		} else {
			made, reused, err = create(ctx, api, req, o)
			if i != req.Job && kube.IsAlreadyExists(err) { // made meanwhile
				if there, _, e := lookUp(ctx, api, req, o); e == nil {
					found[i] = there
					made, action, err = existing(ctx, api, req, o, there, err)
				}
			}
		}
		if err != nil {
			return Result{}, rollback(ctx, api, req, undo, err)
		}
		switch {
		case reused:
			res.Reused, action = true, Unchanged
		case action == Created:
			undo = append(undo, step{Object{o.Resource, made}, nil})
		case action == Configured:
			undo = append(undo, step{Object{o.Resource, made}, found[i]})
		}
		res.Objects, res.Actions = append(res.Objects, made), append(res.Actions, action)
	}
	if req.Job >= 0 && !req.DryRun && !res.Reused {
		adopt(ctx, api, req, res.Objects[req.Job], undo)
	}
	return res, nil
}

// step is one change that can be undone: an object created, or one changed and
// what it was before.
type step struct {
	Object
	before map[string]any
}

// look reads which of several objects already exist, nil for those that do not or that
// the user has no permission to read. It removes objects that belong to an earlier job of
// the same kind and name, but only if the server reports that this job does not exist: a
// job that cannot be read may be running.
func look(ctx context.Context, api API, req *Request) ([]map[string]any, error) {
	found := make([]map[string]any, len(req.Objects))
	if len(req.Objects) < 2 {
		return found, nil
	}
	gone := make([]bool, len(req.Objects))
	var group crash.Group
	for i, o := range req.Objects {
		group.Go(func() {
			object := map[string]any{}
			err := api.Get(ctx, o.Resource, namespaceOf(o, *req), o.Name(), &object)
			if err == nil {
				found[i] = object
			}
			gone[i] = kube.IsNotFound(err)
		})
	}
	group.Wait()
	if req.Job < 0 {
		return found, nil
	}
	found[req.Job] = nil // creating it shows whether it exists
	if !gone[req.Job] || req.DryRun {
		return found, nil
	}
	job := req.Objects[req.Job]
	for i, o := range req.Objects {
		if found[i] == nil || !SubmittedWith(found[i], job.Resource.Kind, job.Name()) {
			continue
		}
		err := api.Delete(ctx, o.Resource, namespaceOf(o, *req), o.Name(), kube.DeleteOptions{UID: kinds.Text(found[i], "metadata", "uid"), Propagation: "Background"})
		if err != nil && !kube.IsNotFound(err) {
			return nil, &Error{Code: NotRemoved, Object: o, Err: err}
		}
		found[i] = nil
	}
	return found, nil
}

func create(ctx context.Context, api API, req Request, o Object) (made map[string]any, reused bool, err error) {
	options := kube.CreateOptions{DryRun: req.DryRun, FieldValidation: "Strict", FieldManager: req.Manager}
	made = map[string]any{}
	err = api.Create(ctx, o.Resource, req.Namespace, o.Body, options, &made)
	if kube.OutcomeUnknown(err) {
		// The answer was lost. The object may exist: look, and only when it does not
		// try once more; a second create makes no duplicate, because the name is exact.
		found, ours, lookErr := lookUp(ctx, api, req, o)
		if ours {
			return found, false, nil
		}
		if !kube.IsNotFound(lookErr) && lookErr != nil || ctx.Err() != nil {
			return nil, false, &Error{Code: OutcomeUnknown, Object: o, Namespace: req.Namespace, Err: err}
		}
		made = map[string]any{}
		err = api.Create(ctx, o.Resource, req.Namespace, o.Body, options, &made)
		if kube.OutcomeUnknown(err) {
			if found, ours, _ := lookUp(ctx, api, req, o); ours {
				return found, false, nil
			}
			return nil, false, &Error{Code: OutcomeUnknown, Object: o, Namespace: req.Namespace, Err: err}
		}
	}
	if err == nil {
		return made, false, nil
	}
	if kube.IsAlreadyExists(err) {
		found, ours, lookErr := lookUp(ctx, api, req, o)
		if ours {
			return found, false, nil
		}
		if req.Key != "" && lookErr != nil {
			return nil, false, &Error{Code: Unread, Object: o, Namespace: req.Namespace, Err: lookErr}
		}
		if req.Key != "" && kinds.Text(found, "metadata", "annotations", kinds.IdempotencyAnnotation) == req.Key {
			return found, true, reuse(req, o, found, err)
		}
		if i := req.Job; i < 0 || req.Objects[i].Name() != o.Name() || req.Objects[i].Resource.Plural != o.Resource.Plural {
			return nil, false, err // Submit compares it
		}
		return nil, false, &Error{Code: Exists, Object: o, Namespace: req.Namespace, Found: found, Err: err}
	}
	return nil, false, err
}

// lookUp reads the object and reports whether this submission created it. Ctrl-C does not
// end it: after an interrupt the user needs to know what was created.
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

func rollback(ctx context.Context, api API, req Request, done []step, cause error) error {
	if len(done) == 0 || req.DryRun {
		return cause
	}
	// Ctrl-C must not leave half a job behind, so the clean-up has its own deadline.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	e := &Error{Code: Undone, Err: cause}
	for _, s := range slices.Backward(done) {
		if s.before != nil {
			// The version is that of our own change: what somebody else has changed since
			// is a conflict, and stays.
			kinds.Set(s.before, kinds.Text(s.Body, "metadata", "resourceVersion"), "metadata", "resourceVersion")
			if err := api.Update(ctx, s.Resource, namespaceOf(s.Object, req), s.Name(), s.before, kube.ChangeOptions{FieldManager: req.Manager}, nil); err != nil {
				e.NotRestored = append(e.NotRestored, s.Object)
			} else {
				e.Restored = append(e.Restored, s.Object)
			}
			continue
		}
		err := api.Delete(ctx, s.Resource, namespaceOf(s.Object, req), s.Name(),
			kube.DeleteOptions{UID: kinds.Text(s.Body, "metadata", "uid"), Propagation: "Background"})
		if err != nil && !kube.IsNotFound(err) {
			e.NotRemoved = append(e.NotRemoved, s.Object)
		} else {
			e.Removed = append(e.Removed, s.Object)
		}
	}
	return e
}
