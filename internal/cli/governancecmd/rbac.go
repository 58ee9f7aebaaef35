package governancecmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/parallel"
	"github.com/hyperpod-cli/hyperpod/internal/permissions"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// RBACOptions are the arguments and flags of governance rbac.
type RBACOptions struct {
	Factory *factory.Factory
	Team    string
	All     bool
	// Group is the group of the data scientists; "" is derived from the team.
	Group string
	// Services adds the Roles for Deployments and Services.
	Services bool
	// Verify reviews the permissions of the current user instead, or those of As and AsGroups.
	Verify   bool
	As       string
	AsGroups []string
	// Principals are ARNs of IAM roles and users: access entries in place of Roles.
	Principals []string
	// Apply writes the Roles, or creates the access entries.
	Apply, Yes bool
	Target     targetFlags
}

func newRBAC(f *factory.Factory, runF func(context.Context, *RBACOptions) error) *cobra.Command {
	o := &RBACOptions{Factory: f}
	cmd := &cobra.Command{
		Use:   "rbac TEAM",
		Short: "Print or apply the Roles of a team's data scientists",
		Long: `Print Roles and bindings that grant exactly what the commands for data
scientists request from the API server: jobs, pods, logs and workloads in the
namespaces of the team, and read access to queues, flavors, nodes and other
objects without a namespace. docs/permissions.md lists the permissions of each
command. Map users to the group, for example with an EKS access entry.

--apply shows what changes in the cluster, prompts, and writes the Roles. It
keeps other subjects of a binding, and refuses objects of the same names that
are not its own: it labels its objects app.kubernetes.io/managed-by=hyperpod.

--verify asks the API server for each permission, as the current user, and lists
the missing ones with the commands that they affect; -o wide lists all. The exit
code is 3 if a required one is missing. With --as or --as-group, it asks for
another user or group; this needs permission to create subjectaccessreviews.

--services adds a Role for templates that create Deployments and Services, for
example serve.

--principal prints EKS access entries instead, which make an IAM role or user a
member of the group and grant nothing else; --apply creates them, and --verify
compares them with what exists.`,
		Example: `  hyperpod governance rbac researchers > roles.yaml
  hyperpod governance rbac --all --group-prefix data-scientists-
  hyperpod governance rbac researchers --apply
  hyperpod governance rbac researchers --services --apply
  hyperpod governance rbac researchers --verify
  hyperpod governance rbac researchers --verify --as jane --as-group ml-users
  hyperpod governance rbac researchers --cluster-name ml-prod --principal arn:aws:iam::123456789012:role/researchers --apply`,
		RunE: factory.RunE(o, o.take, runRBAC, runF),
	}
	fs := cmd.Flags()
	fs.BoolVar(&o.All, "all", false, "print the Roles of all teams")
	fs.StringVar(&o.Group, "group-prefix", "", "prefix of the group name, before the team's (default hyperpod-ns-TEAM-namespace-level-group)")
	fs.BoolVar(&o.Verify, "verify", false, "review the permissions of the current user, or the access entries of --principal")
	fs.StringVar(&o.As, "as", "", "user that --verify reviews (default: the current user)")
	fs.StringArrayVar(&o.AsGroups, "as-group", nil, "group of that user, or a group to review alone (repeatable)")
	fs.BoolVar(&o.Services, "services", false, "add the permissions for Deployments and Services")
	fs.StringArrayVar(&o.Principals, "principal", nil, "ARN of an IAM role or user of the team, for an EKS access entry (repeatable)")
	fs.BoolVar(&o.Apply, "apply", false, "write the Roles to the cluster, or create the access entries of --principal")
	fs.BoolVarP(&o.Yes, "yes", "y", false, "do not prompt for confirmation")
	o.Target.addCluster(f, cmd, "HyperPod cluster whose EKS cluster gets the access entries, by name or ARN")
	f.CompleteFirstArg(cmd, findteam.Complete)
	return cmd
}

func (o *RBACOptions) take(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 1 && !o.All:
		o.Team = findteam.NameOf(args[0])
	case len(args) > 0:
		return errs.Usagef("governance rbac takes one team, or --all").Suggest(errs.Run("governance", "rbac", args[0]))
	case !o.All:
		return errs.Usagef("a team is required").Suggest(errs.Run("governance", "rbac", "TEAM"), errs.Run("governance", "rbac", "--all"))
	}
	return nil
}

// Validate checks the options alone.
func (o *RBACOptions) Validate() error {
	if o.All && o.Verify {
		return factory.Excludes("all", "verify")
	}
	if o.Verify && o.Group != "" {
		return factory.Excludes("verify", "group-prefix")
	}
	if o.Services && len(o.Principals) > 0 {
		return factory.Excludes("services", "principal")
	}
	if o.other() && len(o.Principals) > 0 {
		return factory.Excludes(o.otherFlag(), "principal")
	}
	if o.other() && !o.Verify {
		return factory.Requires(o.otherFlag(), "--verify")
	}
	if strings.HasPrefix(o.Group, "system:") {
		// Kubernetes keeps these groups for itself, and EKS refuses them in access entries.
		return factory.Invalid("group-prefix", o.Group, `must not begin with "system:"`)
	}
	return o.validEntries()
}

// other reports whether another user than the current one is reviewed.
func (o *RBACOptions) other() bool { return o.As != "" || len(o.AsGroups) > 0 }

func (o *RBACOptions) otherFlag() string {
	if o.As != "" {
		return "as"
	}
	return "as-group"
}

// validEntries checks the options about access entries.
func (o *RBACOptions) validEntries() error {
	for _, p := range o.Principals {
		if !clusters.ValidPrincipal(p) {
			return factory.Invalid("principal", p, "must be the ARN of an IAM role or user")
		}
	}
	switch {
	case o.Apply && o.Verify:
		return factory.Excludes("apply", "verify")
	case len(o.Principals) == 0 && o.Target.cluster != "":
		return factory.Requires("cluster-name", "--principal")
	case len(o.Principals) == 0:
		return nil
	case o.All:
		return factory.Excludes("all", "principal")
	case o.Target.cluster == "":
		return factory.Requires("principal", "--cluster-name")
	}
	return nil
}

func runRBAC(ctx context.Context, o *RBACOptions) error {
	if len(o.Principals) > 0 {
		return o.accessEntries(ctx)
	}
	f := o.Factory
	format, c, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	teams, err := o.teams(ctx, c)
	if err != nil {
		return err
	}
	if o.Verify {
		return o.verify(ctx, format, c, teams[0])
	}
	var roles []permissions.Roles
	for _, t := range teams {
		roles = append(roles, permissions.ForTeam(t.Name, o.group(t.Name), t.Namespaces, o.Services))
	}
	if o.Apply {
		return o.applyRoles(ctx, c, roles)
	}
	objects := permissions.Objects(roles)
	if f.Global.Output == "" || format.Name == output.YAML {
		for i, object := range objects {
			text, err := yaml.Marshal(object.Value)
			if err != nil {
				return err
			}
			if i > 0 {
				text = append([]byte("---\n"), text...)
			}
			if _, err := fmt.Fprint(f.IO.Out, strings.ReplaceAll(output.SafeLines(string(text)), "  creationTimestamp: null\n", "")); err != nil {
				return err
			}
		}
		return nil
	}
	var items []any
	for _, object := range objects {
		items = append(items, object.Value)
	}
	return output.Print(f.IO, format, map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, func() output.Table { return rolesTable(objects) }, nil)
}

func (o *RBACOptions) group(team string) string {
	if o.Group != "" {
		return o.Group + team
	}
	return "hyperpod-ns-" + team + "-namespace-level-group"
}

// teams returns the team that is named, or all with a namespace.
func (o *RBACOptions) teams(ctx context.Context, c *factory.Cluster) ([]quota.Team, error) {
	own := "hyperpod-ns-" + o.Team
	if o.Verify {
		// A user without permission for queues or namespaces can still verify the own team.
		if _, err := state.GetNamespace(ctx, c.Client, own); err == nil || kube.IsForbidden(err) {
			return []quota.Team{{Name: o.Team, Namespaces: []string{own}}}, nil
		} else if !kube.IsNotFound(err) {
			return nil, err
		}
	}
	s, err := state.Load(ctx, c.Client, state.Want{ClusterQueues: true, LocalQueues: true, Cohorts: true}, c.Now())
	if err != nil {
		return nil, err
	}
	if err := findteam.NoKueue(s); err != nil {
		return nil, err
	}
	if err := factory.Failures(s.Missing); err != nil {
		return nil, err
	}
	var out []quota.Team
	var names []string
	for _, t := range quota.Build(s).Teams {
		names = append(names, t.Name)
		if len(t.Namespaces) > 0 && (o.All || t.Name == o.Team) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		e := errs.NotFoundf("team %q not found, or it has no namespace", o.Team)
		var flags []string
		if o.Verify {
			e.WithFact("namespace", own+" does not exist")
			flags = append(flags, "--verify")
		}
		for _, n := range errs.Near(o.Team, names) {
			e.Suggest(errs.Run("governance", append([]string{"rbac", n}, flags...)...))
		}
		return nil, e.WithFact("available", words.Some(names, 20))
	}
	return out, nil
}

// ReviewDocument is the JSON of governance rbac --verify.
type ReviewDocument struct {
	Schema      string
	Team        string
	Namespace   string
	User        string   // "": the current user, or UserGroups alone
	UserGroups  []string // those of the flags
	Allowed     bool     // every required permission is there
	Permissions []review
}

type review struct {
	Permission string
	Namespace  string `json:",omitempty"`
	Required   bool
	Allowed    bool
	Commands   []string
}

// verify asks for each permission of the current user, or of another one.
func (o *RBACOptions) verify(ctx context.Context, format output.Format, c *factory.Cluster, team quota.Team) error {
	doc := ReviewDocument{Schema: "hyperpod.governance-rbac/v1", Team: team.Name, Namespace: team.Namespaces[0], User: o.As, UserGroups: append([]string{}, o.AsGroups...), Allowed: true}
	questions := permissions.Questions(o.Services)
	results, err := parallel.Map(questions, func(q permissions.Review) (review, error) {
		resource, sub, _ := strings.Cut(q.Permission.Resource, "/")
		ns := ""
		if !q.Permission.Cluster {
			ns = team.Namespaces[0]
		}
		ok, err := o.can(ctx, c, q.Verb, kinds.Resource{Group: q.Permission.Group, Plural: resource}, ns, sub)
		return review{Permission: q.Text(), Namespace: ns, Required: q.Required, Allowed: ok, Commands: q.Commands}, err
	})
	if err != nil {
		return err
	}
	doc.Permissions = results
	doc.Allowed = !slices.ContainsFunc(results, func(r review) bool { return r.Required && !r.Allowed })
	err = output.Print(o.Factory.IO, format, doc, func() output.Table { return reviewTable(doc, format.Name == output.Wide) }, nil)
	code := errs.OK
	if !doc.Allowed {
		code = errs.No
	}
	return answered(o.Factory, err, code)
}

func (o *RBACOptions) can(ctx context.Context, c *factory.Cluster, verb string, r kinds.Resource, namespace, subresource string) (bool, error) {
	if o.other() {
		return c.Can(ctx, kube.User{Name: o.As, Groups: o.AsGroups}, verb, r, namespace, subresource)
	}
	return c.CanI(ctx, verb, r, namespace, subresource)
}

// reviewed names who is reviewed, "" for the current user.
func reviewed(d ReviewDocument) string {
	var out []string
	if d.User != "" {
		out = append(out, "user "+d.User)
	}
	if len(d.UserGroups) > 0 {
		out = append(out, words.Verb(len(d.UserGroups), "group ", "groups ")+words.Some(d.UserGroups, 4))
	}
	return strings.Join(out, ", ")
}

// reviewTable has one row for the verbs on a resource that are missing, with the commands that need them, and counts the
// permissions. With wide, it also has those that are granted, below.
func reviewTable(d ReviewDocument, wide bool) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "RESOURCE"}, {Title: "VERBS", Wrap: true}, {Title: "SCOPE", Keep: true}, {Title: "ALLOWED", Keep: true}, {Title: "REQUIRED", Keep: true}, {Title: "COMMANDS", Wrap: true}}}
	yes := map[bool]string{true: "yes", false: "no"}
	type row struct {
		resource, scope   string
		allowed, required bool
		verbs, commands   []string
	}
	var rows []row
	var all, missing [2]int // optional, required
	index := map[bool]int{true: 1}
	for _, r := range d.Permissions {
		all[index[r.Required]]++
		if !r.Allowed {
			missing[index[r.Required]]++
		} else if !wide {
			continue
		}
		verb, resource, _ := strings.Cut(r.Permission, " ")
		scope := "cluster"
		if r.Namespace != "" {
			scope = "namespace"
		}
		i := slices.IndexFunc(rows, func(o row) bool {
			return o.resource == resource && o.scope == scope && o.allowed == r.Allowed && o.required == r.Required
		})
		if i < 0 {
			i, rows = len(rows), append(rows, row{resource: resource, scope: scope, allowed: r.Allowed, required: r.Required})
		}
		rows[i].verbs = append(rows[i].verbs, verb)
		rows[i].commands = append(rows[i].commands, r.Commands...)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return index[a.allowed] - index[b.allowed] })
	for _, r := range rows {
		slices.Sort(r.commands)
		t.Rows = append(t.Rows, output.T(r.resource, strings.Join(r.verbs, ", "), r.scope, yes[r.allowed], yes[r.required], strings.Join(slices.Compact(r.commands), ", ")))
	}
	t.NoHeader = len(rows) == 0
	if who := reviewed(d); who != "" {
		t.Notes = append(t.Notes, "permissions of "+who)
	}
	t.Notes = append(t.Notes, granted(missing[1], all[1], "required", " in "+d.Namespace), granted(missing[0], all[0], "optional", ""))
	if !wide {
		t.Notes = append(t.Notes, "granted permissions are hidden (see -o wide)")
	}
	return t
}

// granted counts the permissions of a sort, "required" or "optional".
func granted(missing, all int, sort, where string) string {
	if missing == 0 {
		return fmt.Sprintf("every %s permission%s is granted (%d)", sort, where, all)
	}
	verb := "are"
	if missing == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%d of %d %s permissions%s %s missing", missing, all, sort, where, verb)
}
