package access

import (
	_ "embed"
	"strings"

	"sigs.k8s.io/yaml"

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
		meta := object.Child(m, "metadata")
		object.Set(m, "rbac-defaults", "metadata", "labels", "kubernetes.io/bootstrapping")
		meta["uid"], meta["creationTimestamp"] = uid(i), created
		if err := st.Seed(resource, m); err != nil {
			return err
		}
	}
	return nil
}

// uid returns the uid of a default object, always the same.
func uid(i int) string {
	const digits = "0123456789abcdef"
	return "00000000-0000-4000-8000-0000000000" + string([]byte{digits[i/16%16], digits[i%16]})
}
