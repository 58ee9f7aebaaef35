package permissions

import (
	"reflect"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// ManagedByLabel says who keeps an object; Manager is this program.
const (
	ManagedByLabel = "app.kubernetes.io/managed-by"
	Manager        = "hyperpod"
)

// Object is a Role, a ClusterRole or a binding, as it is wanted or as a cluster has it.
type Object struct {
	Resource kinds.Resource
	Value    metav1.Object // *rbacv1.ClusterRole and so on
}

// Empty returns a value to decode an object of the kind into.
func (o Object) Empty() metav1.Object {
	switch o.Value.(type) {
	case *rbacv1.ClusterRole:
		return &rbacv1.ClusterRole{}
	case *rbacv1.ClusterRoleBinding:
		return &rbacv1.ClusterRoleBinding{}
	case *rbacv1.Role:
		return &rbacv1.Role{}
	}
	return &rbacv1.RoleBinding{}
}

// Objects returns the Roles of teams in the order in which they are made: what bindings
// refer to comes first. The ClusterRole is that of all teams.
func Objects(teams []Roles) []Object {
	var roles, bindings []Object
	for i, t := range teams {
		if i == 0 {
			roles = append(roles, Object{kinds.RBACClusterRole, t.Cluster})
		}
		bindings = append(bindings, Object{kinds.RBACClusterRoleBinding, t.ClusterBinding})
		for k := range t.Namespaced {
			roles = append(roles, Object{kinds.RBACRole, t.Namespaced[k]})
			bindings = append(bindings, Object{kinds.RBACRoleBinding, t.Bindings[k]})
		}
	}
	return append(roles, bindings...)
}

// Action is what happens to an object.
type Action string

// The actions.
const (
	Create Action = "Create"
	Update Action = "Update"
	Keep   Action = "Keep"
	// Refuse: the object is not of this program; Change.Why says what it is.
	Refuse Action = "Refuse"
)

// Why an object is refused.
const (
	// NotManaged: it differs and has no label of this program.
	NotManaged = "NotManaged"
	// OtherRole: the binding is of another role, which cannot change.
	OtherRole = "OtherRole"
	// Aggregated: a controller writes the rules of the ClusterRole.
	Aggregated = "Aggregated"
)

// Change is what applying an object does.
type Change struct {
	Object
	Action Action
	// Fields are the fields that change, of an update: rules or subjects.
	Fields []string
	Why    string
	// Others are subjects of the binding that are not ours. They stay.
	Others []rbacv1.Subject
}

// Compare returns what applying an object does to the one of a cluster, nil if there is
// none. The value of an update has everything that the cluster's has and we do not set.
func Compare(want Object, have metav1.Object) Change {
	if have == nil {
		return Change{Object: want, Action: Create}
	}
	out := Change{Object: want, Action: Keep}
	switch have := have.(type) {
	case *rbacv1.ClusterRole:
		c := have.DeepCopy()
		if c.AggregationRule != nil {
			out.Action, out.Why = Refuse, Aggregated
			return out
		}
		out.rules(&c.Rules, want.Value.(*rbacv1.ClusterRole).Rules)
		out.Value = c
	case *rbacv1.Role:
		c := have.DeepCopy()
		out.rules(&c.Rules, want.Value.(*rbacv1.Role).Rules)
		out.Value = c
	case *rbacv1.ClusterRoleBinding:
		c, w := have.DeepCopy(), want.Value.(*rbacv1.ClusterRoleBinding)
		out.subjects(&c.Subjects, w.Subjects, c.RoleRef, w.RoleRef)
		out.Value = c
	case *rbacv1.RoleBinding:
		c, w := have.DeepCopy(), want.Value.(*rbacv1.RoleBinding)
		out.subjects(&c.Subjects, w.Subjects, c.RoleRef, w.RoleRef)
		out.Value = c
	}
	ours := have.GetLabels()[ManagedByLabel] == Manager
	switch {
	case out.Action == Refuse || len(out.Fields) == 0:
	case !ours:
		out.Action, out.Why = Refuse, NotManaged
	default:
		out.Action = Update
	}
	return out
}

func (c *Change) rules(have *[]rbacv1.PolicyRule, want []rbacv1.PolicyRule) {
	if !reflect.DeepEqual(*have, want) {
		*have, c.Fields = want, append(c.Fields, "rules")
	}
}

func (c *Change) subjects(have *[]rbacv1.Subject, want []rbacv1.Subject, is, should rbacv1.RoleRef) {
	if is != should {
		c.Action, c.Why = Refuse, OtherRole
		return
	}
	for _, s := range *have {
		if !slices.Contains(want, s) {
			c.Others = append(c.Others, s)
		}
	}
	for _, s := range want {
		if !slices.Contains(*have, s) {
			*have = append(*have, s)
			c.Fields = []string{"subjects"}
		}
	}
}
