// Package access decides who may do what in a sandbox by its Roles, ClusterRoles and
// bindings, like the RBAC authorizer of an API server.
package access

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// The names of the RBAC resources in the store.
const (
	Roles               = "roles.rbac.authorization.k8s.io"
	RoleBindings        = "rolebindings.rbac.authorization.k8s.io"
	ClusterRoles        = "clusterroles.rbac.authorization.k8s.io"
	ClusterRoleBindings = "clusterrolebindings.rbac.authorization.k8s.io"
)

// Groups that an API server knows.
const (
	administrators       = "system:masters"
	authenticated        = "system:authenticated"
	serviceAccounts      = "system:serviceaccounts"
	serviceAccountPrefix = "system:serviceaccount:"
)

// User is who sends a request.
type User struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
}

// Owner returns the user of a sandbox, who may do everything.
func Owner() User { return User{Name: "sandbox", Groups: []string{administrators, authenticated}} }

// ServiceAccount returns the user of a service account.
func ServiceAccount(namespace, name, uid string) User {
	return User{Name: serviceAccountPrefix + namespace + ":" + name, UID: uid}.Complete()
}

// Complete returns the user with the groups that every user has, and those of a service
// account.
func (u User) Complete() User {
	u.Groups = slices.Clone(u.Groups)
	add := func(group string) {
		if !slices.Contains(u.Groups, group) {
			u.Groups = append(u.Groups, group)
		}
	}
	if namespace, _, ok := u.serviceAccount(); ok {
		add(serviceAccounts)
		add(serviceAccounts + ":" + namespace)
	}
	add(authenticated)
	return u
}

func (u User) serviceAccount() (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(u.Name, serviceAccountPrefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}

// Administrator reports whether the user may do everything, whatever the roles say.
func (u User) Administrator() bool { return slices.Contains(u.Groups, administrators) }

// Request is what a user wants to do: with a resource, or with a path of the API server.
type Request struct {
	Verb, Group, Resource, Subresource, Namespace, Name string
	// Path is set for a request without a resource.
	Path string
}

// String describes the request in the words of an API server.
func (r Request) String() string {
	if r.Path != "" {
		return fmt.Sprintf("%s path %q", r.Verb, r.Path)
	}
	scope := "at the cluster scope"
	if r.Namespace != "" {
		scope = fmt.Sprintf("in the namespace %q", r.Namespace)
	}
	return fmt.Sprintf("%s resource %q in API group %q %s", r.Verb, r.resource(), r.Group, scope)
}

func (r Request) resource() string {
	if r.Subresource == "" {
		return r.Resource
	}
	return r.Resource + "/" + r.Subresource
}

// grant is a rule that a binding gives to its subjects.
type grant struct {
	namespace string // "" for every namespace
	subjects  []rbacv1.Subject
	rules     []rbacv1.PolicyRule
	reason    string
}

// Policy holds the rules of a sandbox.
type Policy struct{ grants []grant }

// Load reads the bindings and roles of a store. It leaves out bindings to roles that do
// not exist.
func Load(st *store.Store) *Policy {
	p := &Policy{}
	for _, o := range st.List(ClusterRoleBindings, "") {
		var b rbacv1.ClusterRoleBinding
		if kjson.Unmarshal(o.Raw, &b) == nil {
			p.add(st, "", b.RoleRef, b.Subjects, fmt.Sprintf("ClusterRoleBinding %q", b.Name))
		}
	}
	for _, o := range st.List(RoleBindings, "") {
		var b rbacv1.RoleBinding
		if kjson.Unmarshal(o.Raw, &b) == nil {
			p.add(st, b.Namespace, b.RoleRef, b.Subjects, fmt.Sprintf("RoleBinding %q", b.Name+"/"+b.Namespace))
		}
	}
	return p
}

func (p *Policy) add(st *store.Store, namespace string, ref rbacv1.RoleRef, subjects []rbacv1.Subject, binding string) {
	rules, ok := rulesOf(st, namespace, ref)
	if ok {
		p.grants = append(p.grants, grant{namespace, subjects, rules, fmt.Sprintf("RBAC: allowed by %s of %s %q", binding, ref.Kind, ref.Name)})
	}
}

// rulesOf returns the rules of a role, and whether it exists. A ClusterRole with an
// aggregation rule has the rules of the roles that it selects.
func rulesOf(st *store.Store, namespace string, ref rbacv1.RoleRef) ([]rbacv1.PolicyRule, bool) {
	if ref.Kind == "Role" {
		var r rbacv1.Role
		o := st.Get(Roles, namespace, ref.Name)
		if o == nil || kjson.Unmarshal(o.Raw, &r) != nil {
			return nil, false
		}
		return r.Rules, true
	}
	var r rbacv1.ClusterRole
	o := st.Get(ClusterRoles, "", ref.Name)
	if o == nil || kjson.Unmarshal(o.Raw, &r) != nil {
		return nil, false
	}
	if r.AggregationRule == nil {
		return r.Rules, true
	}
	rules := r.Rules
	for _, other := range st.List(ClusterRoles, "") {
		if other.Name == ref.Name || !selected(r.AggregationRule, other.Labels) {
			continue
		}
		var part rbacv1.ClusterRole
		if kjson.Unmarshal(other.Raw, &part) == nil {
			rules = append(slices.Clip(rules), part.Rules...)
		}
	}
	return rules, true
}

func selected(a *rbacv1.AggregationRule, have map[string]string) bool {
	return slices.ContainsFunc(a.ClusterRoleSelectors, func(s metav1.LabelSelector) bool {
		sel, err := metav1.LabelSelectorAsSelector(&s)
		return err == nil && sel.Matches(labels.Set(have))
	})
}

// Allows reports whether a user may do something, and the binding that allows it.
func (p *Policy) Allows(u User, r Request) (allowed bool, reason string) {
	if u.Administrator() {
		return true, ""
	}
	for _, g := range p.grants {
		if (g.namespace == "" || g.namespace == r.Namespace) && g.to(u) && slices.ContainsFunc(g.rules, func(rule rbacv1.PolicyRule) bool { return covers(rule, r) }) {
			return true, g.reason + " to " + g.subjectOf(u)
		}
	}
	return false, ""
}

// Rules returns the rules that a user has in a namespace.
func (p *Policy) Rules(u User, namespace string) []rbacv1.PolicyRule {
	all := []string{"*"}
	if u.Administrator() {
		return []rbacv1.PolicyRule{{Verbs: all, APIGroups: all, Resources: all}, {Verbs: all, NonResourceURLs: all}}
	}
	var out []rbacv1.PolicyRule
	for _, g := range p.grants {
		if (g.namespace == "" || g.namespace == namespace) && g.to(u) {
			out = append(out, g.rules...)
		}
	}
	return out
}

func (g grant) to(u User) bool { return g.subjectOf(u) != "" }

// subjectOf returns the subject of the binding that is the user, or "".
func (g grant) subjectOf(u User) string {
	for _, s := range g.subjects {
		switch s.Kind {
		case rbacv1.UserKind:
			if s.Name == u.Name {
				return fmt.Sprintf("User %q", s.Name)
			}
		case rbacv1.GroupKind:
			if slices.Contains(u.Groups, s.Name) {
				return fmt.Sprintf("Group %q", s.Name)
			}
		case rbacv1.ServiceAccountKind:
			namespace := s.Namespace
			if namespace == "" {
				namespace = g.namespace
			}
			if u.Name == serviceAccountPrefix+namespace+":"+s.Name {
				return fmt.Sprintf("ServiceAccount %q", s.Name+"/"+namespace)
			}
		}
	}
	return ""
}

// covers reports whether a rule allows a request. Source: the evaluation helpers of
// k8s.io/kubernetes pkg/apis/rbac/v1.
func covers(rule rbacv1.PolicyRule, r Request) bool {
	has := func(list []string, what string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, what)
	}
	if !has(rule.Verbs, r.Verb) {
		return false
	}
	if r.Path != "" {
		return slices.ContainsFunc(rule.NonResourceURLs, func(url string) bool {
			prefix, wild := strings.CutSuffix(url, "*")
			return url == r.Path || wild && strings.HasPrefix(r.Path, prefix)
		})
	}
	return has(rule.APIGroups, r.Group) && coversResource(rule.Resources, r) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, r.Name))
}

func coversResource(resources []string, r Request) bool {
	return slices.ContainsFunc(resources, func(have string) bool {
		return have == "*" || have == r.resource() || r.Subresource != "" && have == "*/"+r.Subresource
	})
}
