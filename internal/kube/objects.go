package kube

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube/slim"
)

// Get reads one object into a pointer: a struct, a map[string]any (whole numbers
// become int64), a json.RawMessage or a []byte.
func (c *Client) Get(ctx context.Context, r kinds.Resource, namespace, name string, into any) error {
	if err := named("get", r, name); err != nil {
		return err
	}
	return c.object(ctx, call{method: http.MethodGet, path: r.Path(namespace, name), safe: true, whole: true,
		verb: "get", res: r, namespace: namespace, name: name}, into)
}

// named refuses an empty name: without one, the request would be about the whole
// collection, and a delete would delete everything.
func named(verb string, r kinds.Resource, name string) error {
	if name == "" && r.Plural != "" {
		return errs.Usagef("cannot %s a %s without a name", verb, strings.ToLower(r.Kind))
	}
	return nil
}

// CreateOptions are the options of Create.
type CreateOptions struct {
	DryRun bool
	// FieldValidation is Strict, Warn or Ignore; "" leaves it to the server.
	FieldValidation string
	// FieldManager is the name in the server's managedFields of the object.
	FieldManager string
}

// Create creates an object. If into is not nil, it receives the object as the server stored it. A create is never
// repeated after an unclear failure: see OutcomeUnknown.
func (c *Client) Create(ctx context.Context, r kinds.Resource, namespace string, body any, o CreateOptions, into any) error {
	data, err := encode(body)
	if err != nil {
		return err
	}
	q := url.Values{}
	if o.DryRun {
		q.Set("dryRun", "All")
	}
	if o.FieldValidation != "" {
		q.Set("fieldValidation", o.FieldValidation)
	}
	if o.FieldManager != "" {
		q.Set("fieldManager", o.FieldManager)
	}
	var named struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(data, &named) // "" where the server makes the name
	return c.object(ctx, call{method: http.MethodPost, path: r.Path(namespace, ""), query: q,
		body: data, contentType: "application/json", safe: o.DryRun, whole: named.Metadata.Name != "",
		verb: "create", res: r, namespace: namespace, name: named.Metadata.Name}, into)
}

// PatchType is the content type of a patch.
type PatchType string

// The patch types. Custom resources know no strategic merge patch.
const (
	MergePatch          PatchType = "application/merge-patch+json"
	StrategicMergePatch PatchType = "application/strategic-merge-patch+json"
	// ApplyPatch is server-side apply; it needs a FieldManager. JSON is YAML too.
	ApplyPatch PatchType = "application/apply-patch+yaml"
)

// DeleteOptions are the options of Delete.
type DeleteOptions struct {
	// Propagation is Background, Foreground or Orphan; "" is the server's default.
	Propagation string
	// UID, if set, makes the delete fail with a conflict when another object has the name now.
	UID    string
	DryRun bool
}

// Delete removes an object.
func (c *Client) Delete(ctx context.Context, r kinds.Resource, namespace, name string, o DeleteOptions) error {
	if err := named("delete", r, name); err != nil {
		return err
	}
	type preconditions struct {
		UID string `json:"uid"`
	}
	body := struct {
		Kind              string         `json:"kind"`
		APIVersion        string         `json:"apiVersion"`
		PropagationPolicy string         `json:"propagationPolicy,omitempty"`
		Preconditions     *preconditions `json:"preconditions,omitempty"`
		DryRun            []string       `json:"dryRun,omitempty"`
	}{Kind: "DeleteOptions", APIVersion: "v1", PropagationPolicy: o.Propagation}
	if o.UID != "" {
		body.Preconditions = &preconditions{UID: o.UID}
	}
	if o.DryRun {
		body.DryRun = []string{"All"}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.object(ctx, call{method: http.MethodDelete, path: r.Path(namespace, name),
		body: data, contentType: "application/json",
		verb: "delete", res: r, namespace: namespace, name: name}, nil)
}

// CanI asks the server whether the user has a permission (a SelfSubjectAccessReview). subresource may be "".
func (c *Client) CanI(ctx context.Context, verb string, r kinds.Resource, namespace, subresource string) (bool, error) {
	return c.review(ctx, call{verb: "ask for your permissions"}, kinds.SelfSubjectAccessReview, map[string]any{
		"resourceAttributes": attributes(verb, r, namespace, subresource)})
}

// User is a user, a group or both that an access review is about.
type User struct {
	Name   string
	Groups []string
}

// Can is [Client.CanI] for another user (a SubjectAccessReview). It needs permission to create such reviews. The user is
// also in the groups that the server gives every user, and every service account.
func (c *Client) Can(ctx context.Context, who User, verb string, r kinds.Resource, namespace, subresource string) (bool, error) {
	return c.review(ctx, call{verb: "create", res: kinds.SubjectAccessReview}, kinds.SubjectAccessReview, map[string]any{
		"user": who.Name, "groups": who.allGroups(), "resourceAttributes": attributes(verb, r, namespace, subresource)})
}

// allGroups returns the groups with those that the server adds itself.
func (u User) allGroups() []string {
	out := append(slices.Clone(u.Groups), "system:authenticated")
	if account, ok := strings.CutPrefix(u.Name, "system:serviceaccount:"); ok {
		namespace, _, _ := strings.Cut(account, ":")
		out = append(out, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	}
	return out
}

func attributes(verb string, r kinds.Resource, namespace, subresource string) map[string]string {
	return map[string]string{"namespace": namespace, "verb": verb, "group": r.Group, "version": r.Version, "resource": r.Plural, "subresource": subresource}
}

// review creates an access review of a kind and returns its answer.
func (c *Client) review(ctx context.Context, k call, kind kinds.Resource, spec map[string]any) (bool, error) {
	data, err := json.Marshal(map[string]any{"apiVersion": kind.GroupVersion(), "kind": kind.Kind, "spec": spec})
	if err != nil {
		return false, err
	}
	var answer struct {
		Status struct {
			Allowed bool `json:"allowed"`
		} `json:"status"`
	}
	k.method, k.path, k.body, k.contentType, k.safe = http.MethodPost, kind.Path("", ""), data, "application/json", true
	err = c.object(ctx, k, &answer)
	return answer.Status.Allowed, err
}

// Stream opens an endless answer such as a pod's log
// (Stream(ctx, kinds.Pod, ns, name, "log", query)). The caller closes it; ending
// ctx ends it too.
func (c *Client) Stream(ctx context.Context, r kinds.Resource, namespace, name, subresource string, query url.Values) (io.ReadCloser, error) {
	resp, err := c.do(ctx, call{method: http.MethodGet, path: r.Path(namespace, name, subresource), query: query,
		accept: "*/*", safe: true, stream: true,
		verb: "read the " + subresource + " of", res: r, sub: subresource, namespace: namespace, name: name})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// object sends a call and decodes one object.
func (c *Client) object(ctx context.Context, k call, into any) error {
	return c.read(ctx, k, func(r io.Reader) error {
		data, err := c.large.readAll(ctx, r, cmp.Or(k.most, bounded.Object))
		switch {
		case err != nil || into == nil:
			return err
		case k.whole:
			err = isObject(data, k.name)
		default:
			err = notNull(data)
		}
		if err != nil {
			return err
		}
		return Decode(data, into)
	})
}

// isObject refuses an answer that is not the object of that name: what a proxy or a broken
// server sends in its place must not become an object.
func isObject(data []byte, name string) error {
	if err := notNull(data); err != nil {
		return err
	}
	var o struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := Decode(data, &o); err != nil {
		return err
	}
	if o.Metadata.Name != name {
		return fmt.Errorf("the answer is not the object %q", name)
	}
	return nil
}

// notNull refuses null in place of an object.
func notNull(data []byte) error {
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		return slim.ErrNull
	}
	return nil
}

// Decode reads JSON by the rules of the API: keys are case-sensitive, and whole numbers in a map[string]any are int64. A
// field with an unexpected type keeps its zero value, so that one odd field does not hide an object.
func Decode(data []byte, into any) error {
	switch t := into.(type) {
	case *json.RawMessage:
		*t = data
		return nil
	case *[]byte:
		*t = data
		return nil
	}
	err := kjson.UnmarshalCaseSensitivePreserveInts(data, into)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) && mistyped.Field != "" {
		return nil
	}
	return err
}
