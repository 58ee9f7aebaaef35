package cluster

import "context"

// MemberKubeconfig makes a kubeconfig for a member of the team: a user with exactly the rights that
// the HyperPod chart for teams gives, and the team's namespace as the context's.
func (b *Bed) MemberKubeconfig(ctx context.Context, team string) (string, error) {
	if err := b.ApplyObjects(ctx, memberObjects(team)...); err != nil {
		return "", err
	}
	name := team + "-member"
	cert, err := b.pki.ca.client(name, memberGroup(team))
	if err != nil {
		return "", err
	}
	return b.writeKubeconfig(name, Namespace(team), cert)
}

func memberGroup(team string) string { return Namespace(team) + "-namespace-level-group" }

func memberObjects(team string) []Object {
	namespace := Namespace(team)
	rule := func(group string, resources []any, verbs ...any) Object {
		return Object{"apiGroups": []any{group}, "resources": resources, "verbs": verbs}
	}
	list := func(items ...any) []any { return items }
	ownQueue := rule("kueue.x-k8s.io", list("clusterqueues"), "get", "list", "watch")
	ownQueue["resourceNames"] = list(namespace + "-clusterqueue")
	const rbac = "rbac.authorization.k8s.io"
	subjects := list(Object{"kind": "Group", "name": memberGroup(team), "apiGroup": rbac})
	return []Object{
		{
			"apiVersion": rbac + "/v1", "kind": "ClusterRole", "metadata": Object{"name": namespace + "-cluster-role"},
			"rules": list(
				rule("", list("namespaces"), "list", "get"),
				ownQueue,
				rule("kueue.x-k8s.io", list("resourceflavors", "workloadpriorityclasses"), "get", "list", "watch"),
			),
		},
		{
			"apiVersion": rbac + "/v1", "kind": "ClusterRoleBinding", "metadata": Object{"name": namespace + "-cluster-role-binding"},
			"roleRef":  Object{"apiGroup": rbac, "kind": "ClusterRole", "name": namespace + "-cluster-role"},
			"subjects": subjects,
		},
		{
			"apiVersion": rbac + "/v1", "kind": "Role", "metadata": Object{"name": namespace + "-namespace-role", "namespace": namespace},
			"rules": list(
				rule("", list("pods"), "create", "get", "watch", "list"),
				// Listed as in the chart, where it grants nothing: nodes have no namespace.
				rule("", list("nodes"), "get", "list"),
				rule("", list("pods/log"), "get", "list"),
				rule("kubeflow.org", list("pytorchjobs"), "get", "list", "watch", "create", "delete", "update"),
				rule("kueue.x-k8s.io", list("workloads"), "get", "list", "watch", "patch"),
				rule("", list("configmaps"), "create", "update", "get", "delete"),
				rule("", list("secrets"), "create", "get", "list", "delete"),
				rule("batch", list("jobs"), "create", "delete", "get", "list", "patch", "update", "watch"),
				rule("", list("serviceaccounts"), "get", "list"),
			),
		},
		{
			"apiVersion": rbac + "/v1", "kind": "RoleBinding", "metadata": Object{"name": namespace + "-namespace-role-binding", "namespace": namespace},
			"roleRef":  Object{"apiGroup": rbac, "kind": "Role", "name": namespace + "-namespace-role"},
			"subjects": subjects,
		},
	}
}
