package permissions

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// RoleName is the name of the Role, the ClusterRole and their bindings; ServicesRoleName that of the Role for services.
const (
	RoleName         = "hyperpod-data-scientist"
	ServicesRoleName = "hyperpod-services"
)

// Roles are what grants a team's data scientists the permissions of all commands.
type Roles struct {
	Cluster        *rbacv1.ClusterRole
	ClusterBinding *rbacv1.ClusterRoleBinding
	Namespaced     []*rbacv1.Role
	Bindings       []*rbacv1.RoleBinding
}

// ForTeam returns the Roles for a group of users in the namespaces of a team. The
// ClusterRole only reads objects that are not of a namespace; without it commands work
// and report what is hidden. With services, a second Role in each namespace grants [Services].
func ForTeam(team, group string, namespaces []string, services bool) Roles {
	var own, wide []Permission
	for _, c := range Commands() {
		for _, r := range slices.Concat(c.Needs, c.Optional) {
			switch {
			case !r.Cluster:
				own = append(own, r)
			case clusterScoped(r):
				wide = append(wide, r)
			}
		}
	}
	name := RoleName + "-" + team
	subjects := []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: group}}
	out := Roles{
		Cluster:        &rbacv1.ClusterRole{TypeMeta: meta("ClusterRole"), ObjectMeta: named("", RoleName), Rules: rules(Merge(wide))},
		ClusterBinding: &rbacv1.ClusterRoleBinding{TypeMeta: meta("ClusterRoleBinding"), ObjectMeta: named("", name), Subjects: subjects, RoleRef: ref("ClusterRole", RoleName)},
	}
	for _, ns := range namespaces {
		out.add(ns, RoleName, own, subjects)
		if services {
			out.add(ns, ServicesRoleName, Services(), subjects)
		}
	}
	return out
}

// add grants permissions in a namespace.
func (r *Roles) add(namespace, name string, permissions []Permission, subjects []rbacv1.Subject) {
	r.Namespaced = append(r.Namespaced, &rbacv1.Role{TypeMeta: meta("Role"), ObjectMeta: named(namespace, name), Rules: rules(Merge(permissions))})
	r.Bindings = append(r.Bindings, &rbacv1.RoleBinding{TypeMeta: meta("RoleBinding"), ObjectMeta: named(namespace, name), Subjects: subjects, RoleRef: ref("Role", name)})
}

// Services returns the permissions that templates with a Deployment or a Service need besides those of all commands.
// Roles grant them only on demand: without a queue, Kueue may not govern a Deployment.
func Services() []Permission {
	verbs := []string{"create", "delete", "get", "patch"}
	return []Permission{in(kinds.Deployment.Group, kinds.Deployment.Plural, verbs...), in(kinds.Service.Group, kinds.Service.Plural, verbs...)}
}

// clusterScoped reports a kind without a namespace: reading such objects of all teams is
// what commands ask for. Lists over all namespaces of namespaced kinds are not granted.
func clusterScoped(r Permission) bool {
	switch r.Resource {
	case "namespaces", "nodes", "priorityclasses", "runtimeclasses", "clusterqueues", "cohorts", "resourceflavors", "workloadpriorityclasses", "topologies", "admissionchecks":
		return true
	}
	return false
}

// rules joins permissions of one group and the same verbs into one rule.
func rules(permissions []Permission) []rbacv1.PolicyRule {
	var out []rbacv1.PolicyRule
	for _, r := range permissions {
		i := slices.IndexFunc(out, func(p rbacv1.PolicyRule) bool { return p.APIGroups[0] == r.Group && slices.Equal(p.Verbs, r.Verbs) })
		if i < 0 {
			out = append(out, rbacv1.PolicyRule{APIGroups: []string{r.Group}, Resources: []string{r.Resource}, Verbs: r.Verbs})
			continue
		}
		out[i].Resources = append(out[i].Resources, r.Resource)
	}
	return out
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{ManagedByLabel: Manager}}
}

func meta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

func ref(kind, name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
}

// Review is a permission and whether a user has it.
type Review struct {
	Permission Permission
	Verb       string
	Required   bool
	Allowed    bool
	Commands   []string
}

// Questions returns the single permissions behind all commands, each with the commands that ask
// for it, required ones first. With services, those of [Services] are required too.
func Questions(services bool) []Review {
	var out []Review
	commands := Commands()
	if services {
		commands = append(commands, Command{Name: "start-job --template serve", Needs: Services()})
	}
	for _, c := range commands {
		for i, list := range [][]Permission{c.Needs, c.Optional} {
			for _, r := range list {
				for _, v := range r.Verbs {
					at := slices.IndexFunc(out, func(q Review) bool {
						return q.Verb == v && q.Permission.Group == r.Group && q.Permission.Resource == r.Resource && q.Permission.Cluster == r.Cluster
					})
					if at < 0 {
						at = len(out)
						r.Verbs = nil
						out = append(out, Review{Permission: r, Verb: v})
					}
					q := &out[at]
					q.Required = q.Required || i == 0
					if !slices.Contains(q.Commands, c.Name) {
						q.Commands = append(q.Commands, c.Name)
					}
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Review) int {
		if a.Required != b.Required {
			if a.Required {
				return -1
			}
			return 1
		}
		return compare(a.Permission, b.Permission)
	})
	return out
}

// Text writes a permission as kubectl auth can-i takes it: "list workloads.kueue.x-k8s.io".
func (r Review) Text() string {
	resource, sub, _ := strings.Cut(r.Permission.Resource, "/")
	text := r.Verb + " " + resource
	if r.Permission.Group != "" {
		text += "." + r.Permission.Group
	}
	if sub != "" {
		text += "/" + sub
	}
	return text
}
