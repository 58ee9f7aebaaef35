// Package permissions holds what each command requests from the API server, and creates the Roles that grant
// exactly that to the data scientists of a team. It is pure. test/script/permissions_test.go compares the table with
// the requests of every command.
package permissions

import (
	"cmp"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Permission allows verbs on a resource.
type Permission struct {
	Group string
	// Resource is the plural, with "/" and the subresource where it has one.
	Resource string
	Verbs    []string
	// Cluster: the permission is for the whole cluster, not for the team's namespace.
	Cluster bool
}

// OfJobKind reports a permission on a job kind that every command on jobs needs, or another of them.
func (p Permission) OfJobKind() bool {
	return slices.ContainsFunc(kinds.Jobs(), func(k kinds.Job) bool { return !k.Beside && k.Group == p.Group && k.Plural == p.Resource })
}

// Command is a command and the permissions that it uses. Of the permissions on job kinds in Needs, those of one kind
// are enough. Without an optional permission the command works and reports what is hidden.
type Command struct {
	Name            string
	Needs, Optional []Permission
	// Queue are those of Needs that show which ClusterQueue is the team's. Task governance names it after the namespace, so
	// they are optional for a member who can get it by this name.
	Queue []Permission
}

const kueueGroup = kinds.KueueGroup

// jobs returns a permission on every job kind but those that clusters also use for other things.
func jobs(verbs ...string) []Permission { return jobKinds(false, verbs) }

// beside returns the verbs that read, on the kinds that clusters also use for other things. Roles
// do not let a team create them: without a queue, Kueue may not govern them.
func beside(verbs []string) []Permission {
	read := slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return !slices.Contains([]string{"get", "list", "watch"}, v) })
	return jobKinds(true, read)
}

func jobKinds(beside bool, verbs []string) []Permission {
	var out []Permission
	for _, k := range kinds.Jobs() {
		if k.Beside == beside {
			out = append(out, Permission{Group: k.Group, Resource: k.Plural, Verbs: verbs})
		}
	}
	slices.SortFunc(out, compare)
	return out
}

// runtimes returns the permissions to read what the jobs of some kinds name for their pods.
func runtimes() []Permission {
	var out []Permission
	for _, k := range kinds.Jobs() {
		if k.Runtime == nil {
			continue
		}
		for _, r := range k.Runtime.Kinds {
			out = append(out, Permission{Group: r.Group, Resource: r.Plural, Verbs: []string{"get"}, Cluster: !r.Namespaced})
		}
	}
	return out
}

func in(group, resource string, verbs ...string) Permission {
	return Permission{Group: group, Resource: resource, Verbs: verbs}
}

func all(group, resource string, verbs ...string) Permission {
	return Permission{Group: group, Resource: resource, Verbs: verbs, Cluster: true}
}

// everywhere are permissions in all namespaces.
func everywhere(permissions []Permission) []Permission {
	for i := range permissions {
		permissions[i].Cluster = true
	}
	return permissions
}

// place returns the optional permissions of every command. It reads the namespace that -n names, and without -n all of them, so that a
// wrong name does not look like an empty namespace.
func place() []Permission { return append(runtimes(), all("", "namespaces", "get", "list")) }

// admissionCheck returns what the admission check reads.
func admissionCheck() []Permission {
	const list = "list"
	return []Permission{
		in(kueueGroup, "localqueues", list), all(kueueGroup, "clusterqueues", list), all(kueueGroup, "cohorts", list), all(kueueGroup, "resourceflavors", list),
		all(kueueGroup, "workloadpriorityclasses", list), all(kueueGroup, "topologies", list), all(kueueGroup, "admissionchecks", list),
		all("", "nodes", list), all("", "pods", list), all("", "namespaces", list), all("", "limitranges", list), all(kueueGroup, "localqueues", list), all(kueueGroup, "workloads", list),
		all("scheduling.k8s.io", "priorityclasses", list), all("node.k8s.io", "runtimeclasses", list), in("", "configmaps", "get"), in("apps", "deployments", "get"),
		all(kinds.DeviceClass.Group, kinds.DeviceClass.Plural, list), all(kinds.ResourceSlice.Group, kinds.ResourceSlice.Plural, list),
		all(kinds.ResourceClaimTemplate.Group, kinds.ResourceClaimTemplate.Plural, list), in(kinds.ResourceClaimTemplate.Group, kinds.ResourceClaimTemplate.Plural, list),
	}
}

// Commands returns the commands for data scientists, by name.
func Commands() []Command {
	list, watch := "list", "watch"
	find := []Permission{in(kueueGroup, "workloads", list), in("", "pods", list)}
	place, decide := place(), admissionCheck()
	reasons := []Permission{in(kueueGroup, "localqueues", list), in(kueueGroup, "workloads", list), all(kueueGroup, "localqueues", list), all(kueueGroup, "workloads", list),
		all(kueueGroup, "clusterqueues", list), all(kueueGroup, "cohorts", list), all(kueueGroup, "resourceflavors", list), in("", "configmaps", "get")}
	start := append(decide, in("", "configmaps", "create", "delete", list, "patch"), in("", "resourcequotas", list), in("", "limitranges", list), in("", "serviceaccounts", "get"), in("", "secrets", "get"), in("", "persistentvolumeclaims", "get"))
	// Objects that were submitted with a job are deleted with it.
	together := []Permission{in("", "configmaps", "get", "delete")}
	out := []Command{
		{Name: "cancel-job", Needs: jobs("get", list, "delete"), Optional: []Permission{in(kueueGroup, "workloads", "delete", "get", list), in("", "pods", list, "patch")}},
		{Name: "cancel-job --reason", Needs: jobs("get", list, "delete"), Optional: reasons},
		{Name: "copy-file", Needs: append(jobs("get", list), in("", "pods", list), in("", "pods/exec", "create", "get")), Optional: []Permission{in(kueueGroup, "workloads", list)}},
		{Name: "create-template --team", Needs: []Permission{in("", "configmaps", "create", "get", list, "update")}},
		{Name: "dashboard", Needs: append(jobs(list, watch), in(kueueGroup, "workloads", list, watch), in("", "pods", list, watch), in(kueueGroup, "localqueues", list, watch)),
			Optional: append(everywhere(jobs(list, watch)), all(kueueGroup, "workloads", list, watch), all("", "pods", list, watch), all(kueueGroup, "localqueues", list, watch),
				all(kueueGroup, "clusterqueues", list, watch), all(kueueGroup, "cohorts", list, watch), all(kueueGroup, "resourceflavors", list, watch), all("", "nodes", list, watch), in("", "configmaps", "get"))},
		{Name: "delete-template", Needs: []Permission{in("", "configmaps", "get", "delete")}, Optional: append(jobs(list), all("", "configmaps", list))},
		{Name: "exec", Needs: append(jobs("get", list), in("", "pods", list), in("", "pods/exec", "create", "get")), Optional: []Permission{in(kueueGroup, "workloads", list)}},
		{Name: "explain-job", Needs: append(jobs("get", list), find...), Optional: append(decide, in("", "events", list))},
		{Name: "get-job", Needs: append(jobs("get", list), find...), Optional: []Permission{in("", "events", list), all("", "nodes", list), all(kueueGroup, "clusterqueues", "get")}},
		{Name: "get-log", Needs: append(jobs("get", list), in("", "pods", list, watch), in("", "pods/log", "get"))},
		{Name: "get-log --on-interrupt cancel", Needs: append(jobs("get", list, "delete"), in("", "pods", list, watch), in("", "pods/log", "get")), Optional: append([]Permission{in(kueueGroup, "workloads", list)}, together...)},
		{Name: "get-queue", Queue: []Permission{in(kueueGroup, "localqueues", list)}, Needs: []Permission{in(kueueGroup, "localqueues", list), in(kueueGroup, "workloads", list)},
			Optional: append(append(everywhere(jobs(list)), decide...), in("visibility.kueue.x-k8s.io", "localqueues/pendingworkloads", "get"))},
		{Name: "get-quota", Queue: []Permission{in(kueueGroup, "localqueues", list)}, Needs: []Permission{in(kueueGroup, "localqueues", list), in(kueueGroup, "workloads", list)},
			Optional: []Permission{all(kueueGroup, "clusterqueues", list), all(kueueGroup, "cohorts", list), all(kueueGroup, "resourceflavors", list), all("", "nodes", list), all(kueueGroup, "workloads", list), all(kueueGroup, "localqueues", list)}},
		{Name: "get-usage", Needs: append(jobs(list), find...), Optional: []Permission{all(kueueGroup, "clusterqueues", list), in(kueueGroup, "localqueues", list), in("", "events", list)}},
		{Name: "list-jobs", Needs: append(jobs(list), find...)},
		{Name: "list-jobs --watch", Needs: append(jobs(list, watch), in(kueueGroup, "workloads", list, watch), in("", "pods", list, watch))},
		{Name: "list-pods", Needs: append(jobs("get", list), in("", "pods", list), in(kueueGroup, "workloads", list)), Optional: []Permission{all("", "nodes", list)}},
		{Name: "open-console", Needs: append(jobs("get", list), in("", "pods", "get", list)), Optional: []Permission{all("", "nodes", list), in("apps", "daemonsets", "get", list), all("apps", "daemonsets", "get", list), in("networking.k8s.io", "ingresses", list), all("networking.k8s.io", "ingresses", list)}},
		{Name: "patch-job", Needs: append(jobs("get", list, "patch"), in(kueueGroup, "workloads", "get", list, "patch")), Optional: []Permission{all(kueueGroup, "workloadpriorityclasses", list)}},
		{Name: "port-forward", Needs: append(jobs("get", list), in("", "pods", list), in("", "pods/portforward", "create", "get")), Optional: []Permission{in("", "pods", watch), in(kueueGroup, "workloads", list)}},
		{Name: "report", Needs: append(jobs(list), find...),
			Optional: []Permission{in("", "events", list), in(kueueGroup, "localqueues", list), all("", "nodes", list), all(kueueGroup, "clusterqueues", list), all(kueueGroup, "cohorts", list), all(kueueGroup, "resourceflavors", list)}},
		{Name: "start-job", Needs: append(jobs("create", "get", list), in(kueueGroup, "localqueues", list)), Optional: start},
		{Name: "start-job --on-interrupt cancel", Needs: append(jobs("create", "delete", "get", list, watch), in(kueueGroup, "localqueues", list), in(kueueGroup, "workloads", list, watch), in("", "pods", list, watch)), Optional: start},
		{Name: "start-job --upload-pvc", Needs: append(jobs("create", "get", list), in(kueueGroup, "localqueues", list), in(kueueGroup, "workloads", list, watch), in("", "pods", list, watch), in("", "pods/exec", "create", "get")),
			Optional: append([]Permission{in(kinds.BatchJob.Group, kinds.BatchJob.Plural, watch, "delete"), in("", "events", list)}, start...)},
		{Name: "wait-job", Needs: append(jobs("get", list, watch), in(kueueGroup, "workloads", list, watch), in("", "pods", list, watch))},
		{Name: "wait-job --on-interrupt cancel", Needs: append(jobs("delete", "get", list, watch), in(kueueGroup, "workloads", list, watch), in("", "pods", list, watch)), Optional: together},
	}
	out = append(out, tools(out, "mcp", "list-jobs", "get-job", "list-pods", "get-log", "wait-job", "explain-job", "get-quota", "get-queue", "get-usage", "report"))
	out = append(out, tools(out, "mcp --allow start,cancel,patch", "mcp", "start-job", "cancel-job", "patch-job"))
	slices.SortFunc(out, func(a, b Command) int { return cmp.Compare(a.Name, b.Name) })
	first := jobs()[0]
	for i := range out {
		out[i].Optional = append(slices.Clone(out[i].Optional), place...)
		for _, list := range [][]Permission{out[i].Needs, out[i].Optional} {
			at := slices.IndexFunc(list, func(r Permission) bool { return compare(r, first) == 0 })
			if at >= 0 {
				more := beside(list[at].Verbs)
				if list[at].Cluster {
					more = everywhere(more)
				}
				out[i].Optional = append(out[i].Optional, without(more, out[i].Needs)...)
			}
		}
	}
	return out
}

// tools returns what the tools of mcp ask for that are other commands.
func tools(commands []Command, name string, of ...string) Command {
	out := Command{Name: name}
	for _, c := range commands {
		if slices.Contains(of, c.Name) {
			out.Needs, out.Optional = append(out.Needs, c.Needs...), append(out.Optional, c.Optional...)
		}
	}
	out.Needs = Merge(out.Needs)
	// The API server checks a job of dry_run_job, which it does for those who may create it; doctor reads webhooks.
	dryRun := append(jobs("create"), in("", "configmaps", "list"), in("", "resourcequotas", "list"), in("", "limitranges", "list"), in("", "serviceaccounts", "get"), in("", "secrets", "get"), in("", "persistentvolumeclaims", "get"))
	out.Optional = without(Merge(out.Optional, dryRun, []Permission{all("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "list")}), out.Needs)
	return out
}

// without leaves out what others grant.
func without(list, others []Permission) []Permission {
	for i, r := range list {
		for _, o := range others {
			if compare(r, o) == 0 && r.Cluster == o.Cluster {
				r.Verbs = slices.DeleteFunc(slices.Clone(r.Verbs), func(v string) bool { return slices.Contains(o.Verbs, v) })
			}
		}
		list[i] = r
	}
	return slices.DeleteFunc(list, func(r Permission) bool { return len(r.Verbs) == 0 })
}

func compare(a, b Permission) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
}

// Merge joins permissions on the same resource, sorted, each verb once.
func Merge(lists ...[]Permission) []Permission {
	var out []Permission
	for _, r := range slices.Concat(lists...) {
		i := slices.IndexFunc(out, func(o Permission) bool {
			return o.Group == r.Group && o.Resource == r.Resource && o.Cluster == r.Cluster
		})
		if i < 0 {
			r.Verbs = slices.Clone(r.Verbs)
			out = append(out, r)
			continue
		}
		out[i].Verbs = append(out[i].Verbs, r.Verbs...)
	}
	for i := range out {
		slices.Sort(out[i].Verbs)
		out[i].Verbs = slices.Compact(out[i].Verbs)
	}
	slices.SortStableFunc(out, compare)
	return out
}
