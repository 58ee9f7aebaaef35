package governancecmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/apply"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/parallel"
	"github.com/hyperpod-cli/hyperpod/internal/permissions"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// applyRoles shows what the Roles change in the cluster, prompts, and writes them. Objects
// that are not of this program are refused before anything changes.
func (o *RBACOptions) applyRoles(ctx context.Context, c *factory.Cluster, teams []permissions.Roles) error {
	f := o.Factory
	changes, err := compareRoles(ctx, c.Client, permissions.Objects(teams))
	if err != nil {
		return err
	}
	var todo, refused []permissions.Change
	for _, ch := range changes {
		switch ch.Action {
		case permissions.Create, permissions.Update:
			todo = append(todo, ch)
			fmt.Fprintln(f.IO.Out, output.Safe(roleLine(ch)))
		case permissions.Refuse:
			refused = append(refused, ch)
		}
		if len(ch.Others) > 0 {
			f.Notef("note: %s also binds %s", roleName(ch.Object), subjects(ch.Others))
		}
	}
	if len(refused) > 0 {
		return refusedRoles(refused)
	}
	if len(todo) == 0 {
		fmt.Fprintln(f.IO.Out, "no changes: the Roles are as they should be")
		return nil
	}
	if err := f.Agree(ctx, o.Yes, "Apply "+words.Count(len(todo), "change", "changes")+" of permissions?"); err != nil {
		return err
	}
	for i, ch := range todo {
		if err := applyRole(ctx, c.Client, ch); err != nil {
			e := errs.Wrap(err, "cannot apply the change of "+roleName(ch.Object)).WithCode(errs.ExitOf(err))
			if errors.Is(err, context.Canceled) {
				e = factory.Interrupted("the cluster may still make the change of " + roleName(ch.Object))
			}
			return e.WithFact("done", fmt.Sprintf("%d of %s", i, words.Count(len(todo), "change", "changes")))
		}
		verb := map[permissions.Action]string{permissions.Create: "Created", permissions.Update: "Changed"}[ch.Action]
		fmt.Fprintln(f.IO.Out, output.Safe(verb+" "+roleName(ch.Object)))
	}
	return nil
}

// compareRoles reads the objects of the cluster and compares.
func compareRoles(ctx context.Context, c *kube.Client, want []permissions.Object) ([]permissions.Change, error) {
	return parallel.Map(want, func(w permissions.Object) (permissions.Change, error) {
		have := w.Empty()
		err := c.Get(ctx, w.Resource, w.Value.GetNamespace(), w.Value.GetName(), have)
		if kube.IsNotFound(err) {
			return permissions.Compare(w, nil), nil
		}
		return permissions.Compare(w, have), err
	})
}

func applyRole(ctx context.Context, c *kube.Client, ch permissions.Change) error {
	namespace, name := ch.Value.GetNamespace(), ch.Value.GetName()
	if ch.Action == permissions.Create {
		return c.Create(ctx, ch.Resource, namespace, ch.Value, kube.CreateOptions{FieldManager: apply.Manager}, nil)
	}
	return c.Update(ctx, ch.Resource, namespace, name, ch.Value, kube.ChangeOptions{FieldManager: apply.Manager}, nil)
}

func roleLine(ch permissions.Change) string {
	if ch.Action == permissions.Create {
		return "+ " + roleName(ch.Object)
	}
	return "~ " + roleName(ch.Object) + "  " + strings.Join(ch.Fields, ", ")
}

func roleName(o permissions.Object) string { return o.Resource.Kind + " " + qualified(o.Value) }

func qualified(o metav1.Object) string {
	if ns := o.GetNamespace(); ns != "" {
		return ns + "/" + o.GetName()
	}
	return o.GetName()
}

// subjects lists who a binding binds.
func subjects(list []rbacv1.Subject) string {
	var out []string
	for _, s := range list {
		name := s.Name
		if s.Namespace != "" {
			name = s.Namespace + "/" + name
		}
		out = append(out, s.Kind+" "+name)
	}
	return words.Some(out, 8)
}

// refusedRoles returns the error of objects that are not of this program.
func refusedRoles(list []permissions.Change) error {
	e := errs.New("cannot apply the Roles", "some objects of these names are not from "+permissions.Manager)
	for _, ch := range list {
		e.WithFact(roleName(ch.Object), map[string]string{
			permissions.NotManaged: "differs, and has no label " + permissions.ManagedByLabel + "=" + permissions.Manager,
			permissions.OtherRole:  "binds another role, which cannot be changed",
			permissions.Aggregated: "has an aggregation rule",
		}[ch.Why])
	}
	first := list[0]
	if first.Why != permissions.NotManaged {
		return e
	}
	args := []string{"label", strings.ToLower(first.Resource.Kind), first.Value.GetName(), permissions.ManagedByLabel + "=" + permissions.Manager, "--overwrite"}
	if ns := first.Value.GetNamespace(); ns != "" {
		args = append(args, "-n", ns)
	}
	return e.Suggest(errs.Other(append([]string{"kubectl"}, args...)...).WithNote("hands it over"))
}

// rolesTable lists the objects.
func rolesTable(objects []permissions.Object) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "KIND"}, {Title: "NAMESPACE"}, {Title: "NAME", Keep: true}, {Title: "RULES", Right: true}, {Title: "GROUP", Wrap: true}}}
	for _, o := range objects {
		rules, group := "-", "-"
		switch v := o.Value.(type) {
		case *rbacv1.ClusterRole:
			rules = fmt.Sprint(len(v.Rules))
		case *rbacv1.Role:
			rules = fmt.Sprint(len(v.Rules))
		case *rbacv1.ClusterRoleBinding:
			group = v.Subjects[0].Name
		case *rbacv1.RoleBinding:
			group = v.Subjects[0].Name
		}
		namespace := o.Value.GetNamespace()
		if namespace == "" {
			namespace = "-"
		}
		t.Rows = append(t.Rows, output.T(o.Resource.Kind, namespace, o.Value.GetName(), rules, group))
	}
	return t
}
