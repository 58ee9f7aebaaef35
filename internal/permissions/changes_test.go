package permissions

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestCompare: what is not of this program is refused, subjects of others stay, and what
// is as it should be is kept.
func TestCompare(t *testing.T) {
	want := Objects([]Roles{ForTeam("vision", "g", []string{"a"}, false)})
	if got := fmt.Sprintln(len(want), want[0].Resource.Kind, want[1].Resource.Kind, want[2].Resource.Kind, want[3].Resource.Kind); got != "4 ClusterRole Role ClusterRoleBinding RoleBinding\n" {
		t.Fatal(got)
	}
	other := rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "ada"}
	for _, c := range []struct {
		name   string
		of     int
		change func(o metav1.Object)
		want   string
	}{
		{"the same", 0, func(metav1.Object) {}, "Keep []  []"},
		{"the same, from kubectl", 0, func(o metav1.Object) { o.SetLabels(nil) }, "Keep []  []"},
		{"other rules", 0, func(o metav1.Object) { o.(*rbacv1.ClusterRole).Rules = nil }, "Update [rules]  []"},
		{"other rules of somebody else", 0, func(o metav1.Object) { o.SetLabels(nil); o.(*rbacv1.ClusterRole).Rules = nil }, "Refuse [rules] NotManaged []"},
		{"rules that a controller writes", 0, func(o metav1.Object) { o.(*rbacv1.ClusterRole).AggregationRule = &rbacv1.AggregationRule{} }, "Refuse [] Aggregated []"},
		{"a Role with other rules", 1, func(o metav1.Object) { o.(*rbacv1.Role).Rules[0].Verbs = []string{"*"} }, "Update [rules]  []"},
		{"a subject more", 2, func(o metav1.Object) {
			b := o.(*rbacv1.ClusterRoleBinding)
			b.Subjects = append(b.Subjects, other)
		}, "Keep []  [{User rbac.authorization.k8s.io ada }]"},
		{"another subject", 3, func(o metav1.Object) { o.(*rbacv1.RoleBinding).Subjects = []rbacv1.Subject{other} }, "Update [subjects]  [{User rbac.authorization.k8s.io ada }]"},
		{"another role", 3, func(o metav1.Object) { o.(*rbacv1.RoleBinding).RoleRef.Name = "admin" }, "Refuse [] OtherRole []"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := want[c.of]
			have := Objects([]Roles{ForTeam("vision", "g", []string{"a"}, false)})[c.of].Value
			have.SetResourceVersion("7")
			have.SetAnnotations(map[string]string{"k": "v"})
			c.change(have)
			before := fmt.Sprintf("%+v", have)
			got := Compare(w, have)
			if text := fmt.Sprint(got.Action, " ", got.Fields, " ", got.Why, " ", got.Others); text != c.want {
				t.Errorf("%s, want %s", text, c.want)
			}
			if fmt.Sprintf("%+v", have) != before {
				t.Error("the object of the cluster was changed")
			}
			if got.Action == Update && (got.Value.GetResourceVersion() != "7" || got.Value.GetAnnotations()["k"] != "v") {
				t.Errorf("not an update of the object that was read: %+v", got.Value)
			}
		})
	}
	if got := Compare(want[0], nil); got.Action != Create {
		t.Error(got.Action)
	}
}
