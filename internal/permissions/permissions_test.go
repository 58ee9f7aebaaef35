package permissions

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

var update = flag.Bool("update", false, "rewrite docs/permissions.md")

const head = "# Permissions of each command\n\n" +
	"The table lists the permissions that each command for data scientists uses at the API server. Write Roles from it, or let\n" +
	"`hyperpod governance rbac TEAM` print them:\n\n" +
	"```\n" +
	"hyperpod governance rbac researchers | kubectl apply -f -\n" +
	"hyperpod governance rbac researchers --verify     # as a member of the team\n" +
	"```\n\n" +
	"Without an optional permission, the command works and reports what is hidden. \"cluster\" marks permissions in all\n" +
	"namespaces, or on objects without a namespace; the others are for the namespace of the team. A test compares the table with\n" +
	"the requests of every command. The table uses two short names:\n\n"

const after = "\nEvery command also uses, if allowed: %s.\n\nA command works with the job kinds that you have permission for. Pods, Deployments, StatefulSets and Notebooks can hold\n" +
	"quota too: a command that reads jobs also reads them if it is allowed to.\n\n" +
	"The Roles of `governance rbac` do not let a team create them, and Services: without a queue, Kueue may not govern them. The\n" +
	"templates `serve` and `fsdp-llama-etcd` create a Deployment and a Service. For a team that uses them, `--services` adds a Role\n" +
	"with these permissions: %s.\n\n" +
	"```\n" +
	"hyperpod governance rbac researchers --services --apply\n" +
	"```\n\n" +
	"A service, such as `mcp` or `dashboard --web` for a team, works with the permissions of its kubeconfig. Give it an account of its\n" +
	"own with the permissions in its row. For one that only reads, leave out `create`: the API server then does not check the job of\n" +
	"`dry_run_job`, and the rest of the answer stays.\n\n" +
	"An administrator can review another user or group. This needs permission to create\n" +
	"`subjectaccessreviews.authorization.k8s.io`:\n\n" +
	"```\n" +
	"hyperpod governance rbac researchers --verify --as jane --as-group hyperpod-ns-researchers-namespace-level-group\n" +
	"```\n\n" +
	"| command | required | optional, besides those of every command |\n|---|---|---|\n"

// TestTable: docs/permissions.md is the table.
func TestTable(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	var kinds []string
	for _, r := range jobs() {
		kinds = append(kinds, "`"+r.Resource+"."+r.Group+"`")
	}
	fmt.Fprintf(&b, "| name | permissions |\n|---|---|\n| `jobs` | the verbs on %s |\n| *admission check* | %s |\n", strings.Join(kinds, ", "), cell(Merge(admissionCheck())))
	fmt.Fprintf(&b, after, strings.ReplaceAll(cell(Merge(place())), "<br>", ", "), strings.ReplaceAll(cell(Merge(Services())), "<br>", ", "))
	for _, c := range Commands() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Name, cell(Merge(c.Needs)), short(c.Optional))
	}
	b.WriteString(headAWS)
	for _, c := range AWSCommands() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Name, actions(c.Needs), actions(c.Optional))
	}
	const path = "../../docs/permissions.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != b.String() {
		t.Errorf("docs/permissions.md is not the table (go test ./internal/permissions -update): %v", err)
	}
}

const headAWS = "\n## AWS\n\n" +
	"The table lists the IAM actions of commands for clusters. Without an optional action, the command works and reports what\n" +
	"is unknown. `get-token` needs no action: it signs the token on your machine. With `--role-arn`, a command also needs\n" +
	"`sts:AssumeRole` on the role. A test compares the table with the requests of every command.\n\n" +
	"| command | required | optional |\n|---|---|---|\n"

// actions writes IAM actions.
func actions(list []string) string {
	list = slices.Sorted(slices.Values(list))
	for i := range list {
		list[i] = "`" + list[i] + "`"
	}
	return strings.Join(list, "<br>")
}

// short writes optional permissions, those of the admission check as one.
func short(optional []Permission) string {
	rest := without(Merge(optional), slices.Concat(place(), jobKinds(true, []string{"get", "list", "watch"}), everywhere(jobKinds(true, []string{"get", "list", "watch"}))))
	check := Merge(admissionCheck())
	if len(without(slices.Clone(check), optional)) > 0 {
		return cell(rest)
	}
	if more := cell(without(rest, check)); more != "" {
		return "*admission check*<br>" + more
	}
	return "*admission check*"
}

// cell writes permissions; the job kinds are one.
func cell(permissions []Permission) string {
	var kinds []string
	for _, r := range jobs() {
		kinds = append(kinds, r.Group+"/"+r.Resource)
	}
	var out []string
	for _, r := range permissions {
		name := r.Resource
		if slices.Contains(kinds, r.Group+"/"+r.Resource) {
			name = "jobs"
		} else if r.Group != "" {
			name += "." + r.Group
		}
		text := strings.Join(r.Verbs, " ") + " `" + name + "`"
		if r.Cluster {
			text += " (cluster)"
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, "<br>")
}

// TestRolesGrantNoMore: no wildcard, no write on what is not of the namespace, nothing of
// other namespaces.
func TestRolesGrantNoMore(t *testing.T) {
	r := ForTeam("vision", "g", []string{"a", "b"}, false)
	if len(r.Namespaced) != 2 || len(r.Bindings) != 2 || r.Namespaced[1].Namespace != "b" || r.Bindings[1].Namespace != "b" {
		t.Errorf("%+v", r)
	}
	for _, rule := range r.Cluster.Rules {
		for _, v := range rule.Verbs {
			if v != "get" && v != "list" && v != "watch" {
				t.Errorf("the ClusterRole grants %s on %v", v, rule.Resources)
			}
		}
		for _, name := range rule.Resources {
			if slices.Contains([]string{"pods", "workloads", "localqueues", "secrets", "configmaps", "limitranges"}, name) || strings.Contains(name, "jobs") {
				t.Errorf("the ClusterRole grants %s of all namespaces", name)
			}
		}
	}
	for _, rule := range slices.Concat(r.Cluster.Rules, r.Namespaced[0].Rules) {
		if slices.Contains(rule.Verbs, "*") || slices.Contains(rule.Resources, "*") || slices.Contains(rule.APIGroups, "*") {
			t.Errorf("a wildcard: %+v", rule)
		}
	}
}

// TestServices: on demand, a second Role of each namespace lets a team create Deployments and Services; the other Role stays the same.
func TestServices(t *testing.T) {
	plain, r := ForTeam("vision", "g", []string{"a", "b"}, false), ForTeam("vision", "g", []string{"a", "b"}, true)
	if len(r.Namespaced) != 4 || len(r.Bindings) != 4 || !reflect.DeepEqual(r.Namespaced[0], plain.Namespaced[0]) || !reflect.DeepEqual(r.Cluster, plain.Cluster) {
		t.Fatalf("%+v", r)
	}
	role, binding := r.Namespaced[3], r.Bindings[3]
	if role.Namespace != "b" || role.Name != ServicesRoleName || binding.RoleRef.Name != ServicesRoleName || binding.Subjects[0].Name != "g" {
		t.Errorf("%+v %+v", role, binding)
	}
	want := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"create", "delete", "get", "patch"}},
		{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"create", "delete", "get", "patch"}}}
	if !reflect.DeepEqual(role.Rules, want) {
		t.Errorf("%+v", role.Rules)
	}
	creates := func(services bool) bool {
		return slices.ContainsFunc(Questions(services), func(q Review) bool { return q.Text() == "create deployments.apps" && q.Required })
	}
	if !creates(true) || creates(false) {
		t.Error("a review with services asks for them, another one does not")
	}
}
