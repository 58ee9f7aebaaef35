package access

import (
	_ "embed"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// defaultRoles are the roles and bindings that every cluster with Kueue has, as far as
// people bind them.
//
//go:embed roles.yaml
var defaultRoles string

// AddDefaults adds the default roles and bindings that a store lacks, like an API server
// at its start.
func AddDefaults(st *store.Store, created string) error {
	if st.Get(ClusterRoles, "", "cluster-admin") != nil && st.Get(ClusterRoleBindings, "", "cluster-admin") != nil {
		return nil
	}
	for i, doc := range strings.Split("\n"+defaultRoles, "\n---") {
		m := map[string]any{}
		if err := yaml.Unmarshal([]byte(doc), &m); err != nil {
			return err
		}
		if len(m) == 0 {
			continue
		}
		resource := ClusterRoles
		if object.Text(m, "kind") == "ClusterRoleBinding" {
			resource = ClusterRoleBindings
		}
		if resource == ClusterRoles {
			addJobs(m)
		}
		meta := object.Child(m, "metadata")
		object.Set(m, "rbac-defaults", "metadata", "labels", "kubernetes.io/bootstrapping")
		meta["uid"], meta["creationTimestamp"] = uid(i), created
		if err := st.Seed(resource, m); err != nil {
			return err
		}
	}
	return nil
}

// addJobs adds the rules for the job kinds of operators that a default role lacks. In a cluster they come from the roles that
// operators and Kueue install, and that the default ones aggregate.
func addJobs(role map[string]any) {
	read, all := []any{"get", "list", "watch"}, []any{"get", "list", "watch", "create", "delete", "deletecollection", "patch", "update"}
	name := object.Text(role, "metadata", "name")
	verbs := map[string][]any{"view": read, "edit": all, "admin": all, "kueue-batch-user-role": all, "kueue-batch-admin-role": all}[name]
	if verbs == nil {
		return
	}
	rules, _ := role["rules"].([]any)
	known := map[string]bool{}
	for _, rule := range object.List(role, "rules") {
		for _, group := range object.List(rule, "apiGroups") {
			for _, resource := range object.List(rule, "resources") {
				known[fmt.Sprint(resource, ".", group)] = true
			}
		}
	}
	for _, j := range kinds.Jobs() {
		if j.Group == "" || j.Group == "apps" || known[j.Plural+"."+j.Group] || strings.HasPrefix(name, "kueue-") && !strings.Contains(j.Framework(), "/") {
			continue
		}
		rules = append(rules, map[string]any{"apiGroups": []any{j.Group}, "resources": []any{j.Plural}, "verbs": verbs},
			map[string]any{"apiGroups": []any{j.Group}, "resources": []any{j.Plural + "/status"}, "verbs": read})
	}
	role["rules"] = rules
}

// uid returns the uid of a default object, always the same.
func uid(i int) string {
	const digits = "0123456789abcdef"
	return "00000000-0000-4000-8000-0000000000" + string([]byte{digits[i/16%16], digits[i%16]})
}
