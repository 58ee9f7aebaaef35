package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/access"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

type userKey struct{}

// WithUser returns a context for requests of a user. Requests without one are those of the
// sandbox's owner.
func WithUser(ctx context.Context, u access.User) context.Context {
	return context.WithValue(ctx, userKey{}, u)
}

// userOf returns the user of a request. A user who may impersonate another one acts as
// that one.
func (s *Server) userOf(r *http.Request) (access.User, error) {
	u, ok := r.Context().Value(userKey{}).(access.User)
	if !ok {
		u = access.Owner()
	}
	as := access.User{Name: r.Header.Get("Impersonate-User"), UID: r.Header.Get("Impersonate-Uid"), Groups: r.Header.Values("Impersonate-Group")}
	for name, values := range r.Header {
		if key, ok := strings.CutPrefix(name, "Impersonate-Extra-"); ok {
			if as.Extra == nil {
				as.Extra = map[string][]string{}
			}
			if plain, err := url.PathUnescape(strings.ToLower(key)); err == nil {
				key = plain
			}
			as.Extra[key] = values
		}
	}
	if as.Name == "" {
		if as.UID != "" || len(as.Groups) > 0 || len(as.Extra) > 0 {
			return u, badRequest("requested impersonation of groups or extra information without impersonating a user")
		}
		return u, nil
	}
	wanted := []access.Request{{Verb: "impersonate", Resource: "users", Name: as.Name}}
	if rest, ok := strings.CutPrefix(as.Name, "system:serviceaccount:"); ok {
		ns, name, _ := strings.Cut(rest, ":")
		wanted[0] = access.Request{Verb: "impersonate", Resource: "serviceaccounts", Namespace: ns, Name: name}
	}
	for _, g := range as.Groups {
		wanted = append(wanted, access.Request{Verb: "impersonate", Resource: "groups", Name: g})
	}
	for _, w := range wanted {
		if err := s.allow(r.Context(), u, w); err != nil {
			return u, err
		}
	}
	return as.Complete(), nil
}

// allow returns an error if the user may not do something.
func (s *Server) allow(ctx context.Context, u access.User, r access.Request) error {
	if u.Administrator() {
		return nil
	}
	return s.backend.View(ctx, func(st *store.Store) error { return allowed(st, u, r) })
}

func allowed(st *store.Store, u access.User, r access.Request) error {
	if ok, _ := access.Load(st).Allows(u, r); ok {
		return nil
	}
	if r.Path != "" {
		return forbiddenPath(u, r)
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: r.Group, Resource: r.Resource}, r.Name, fmt.Errorf("User %q cannot %s", u.Name, r))
}

// verb returns what a request does to a resource, in the words of RBAC.
func (c *call) verb() string {
	switch c.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if c.name == "" {
			return "deletecollection"
		}
		return "delete"
	}
	switch {
	case watching(c.URL.Query()):
		return "watch"
	case c.name == "":
		return "list"
	}
	return "get"
}

// wanted returns what a request asks for.
func (c *call) wanted() access.Request {
	r := access.Request{Verb: c.verb(), Group: c.res.Group, Resource: c.res.Plural, Subresource: c.sub, Namespace: c.namespace, Name: c.name}
	if r.Name == "" && (r.Verb == "list" || r.Verb == "watch" || r.Verb == "deletecollection") {
		if name, ok := strings.CutPrefix(c.URL.Query().Get("fieldSelector"), "metadata.name="); ok && !strings.ContainsAny(name, ",=!") {
			r.Name = name
		}
	}
	if c.res.Kind == kinds.Namespace.Kind {
		r.Namespace = r.Name // a Role in the namespace can grant it
	}
	return r
}

// accessReview answers what a user may do.
func (s *Server) accessReview(c *call) error {
	m, err := c.object()
	if err != nil {
		return err
	}
	if err := c.identify(m); err != nil {
		return err
	}
	spec := object.Map(m, "spec")
	switch c.res.Kind {
	case selfReview.Kind:
		m["status"] = map[string]any{"userInfo": userInfo(c.user)}
		return write(c.w, format{}, http.StatusCreated, m)
	case selfRules.Kind:
		err = s.backend.View(c.Context(), func(st *store.Store) error {
			m["status"] = rulesStatus(access.Load(st).Rules(c.user, object.Text(spec, "namespace")))
			return nil
		})
	default:
		u := c.user
		if c.res.Kind != kinds.SelfSubjectAccessReview.Kind {
			u = access.User{Name: object.Text(spec, "user"), UID: object.Text(spec, "uid")}
			for _, g := range object.List(spec, "groups") {
				name, _ := g.(string)
				u.Groups = append(u.Groups, name)
			}
			if u.Name == "" && len(u.Groups) == 0 {
				return badRequest("at least one of user or group must be specified")
			}
		}
		var r access.Request
		if r, err = requestOf(spec, c.namespace); err != nil {
			return err
		}
		err = s.backend.View(c.Context(), func(st *store.Store) error {
			ok, reason := access.Load(st).Allows(u, r)
			status := map[string]any{"allowed": ok}
			if reason != "" {
				status["reason"] = reason
			}
			m["status"] = status
			return nil
		})
	}
	if err != nil {
		return err
	}
	return write(c.w, format{}, http.StatusCreated, m)
}

// requestOf reads the request of an access review.
func requestOf(spec map[string]any, namespace string) (access.Request, error) {
	a, path := object.Map(spec, "resourceAttributes"), object.Map(spec, "nonResourceAttributes")
	if (a == nil) == (path == nil) {
		return access.Request{}, badRequest("exactly one of nonResourceAttributes or resourceAttributes must be specified")
	}
	if path != nil {
		return access.Request{Verb: object.Text(path, "verb"), Path: object.Text(path, "path")}, nil
	}
	r := access.Request{Verb: object.Text(a, "verb"), Group: object.Text(a, "group"), Resource: object.Text(a, "resource"),
		Subresource: object.Text(a, "subresource"), Namespace: object.Text(a, "namespace"), Name: object.Text(a, "name")}
	if namespace != "" && r.Namespace != namespace {
		return r, badRequest("spec.resourceAttributes.namespace must match metadata.namespace")
	}
	return r, nil
}

func rulesStatus(rules []rbacv1.PolicyRule) map[string]any {
	resources, paths := []any{}, []any{}
	texts := func(list []string) []any {
		out := []any{}
		for _, t := range list {
			out = append(out, t)
		}
		return out
	}
	for _, r := range rules {
		if len(r.Resources) > 0 {
			rule := map[string]any{"verbs": texts(r.Verbs), "apiGroups": texts(r.APIGroups), "resources": texts(r.Resources)}
			if len(r.ResourceNames) > 0 {
				rule["resourceNames"] = texts(r.ResourceNames)
			}
			resources = append(resources, rule)
		}
		if len(r.NonResourceURLs) > 0 {
			paths = append(paths, map[string]any{"verbs": texts(r.Verbs), "nonResourceURLs": texts(r.NonResourceURLs)})
		}
	}
	return map[string]any{"incomplete": false, "resourceRules": resources, "nonResourceRules": paths}
}

func userInfo(u access.User) map[string]any {
	groups, extra := []any{}, map[string]any{}
	for _, g := range u.Groups {
		groups = append(groups, g)
	}
	for k, values := range u.Extra {
		list := []any{}
		for _, v := range values {
			list = append(list, v)
		}
		extra[k] = list
	}
	out := map[string]any{"username": u.Name, "groups": groups}
	if u.UID != "" {
		out["uid"] = u.UID
	}
	if len(extra) > 0 {
		out["extra"] = extra
	}
	return out
}

// forbiddenPath returns the error for a path without a resource.
func forbiddenPath(u access.User, r access.Request) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Message: fmt.Sprintf("forbidden: User %q cannot %s", u.Name, r)}}
}
