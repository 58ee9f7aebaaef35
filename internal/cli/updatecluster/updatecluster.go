// Package updatecluster is `hyperpod update-cluster` and `hyperpod update-cluster-software`.
package updatecluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/clusterfile"
	"github.com/hyperpod-cli/hyperpod/internal/cli/clusterwait"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findnode"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/clusters/spec"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/clustertext"
)

// Options are what was typed.
type Options struct {
	factory.OneCluster
	Factory *factory.Factory
	// Group and Count scale one instance group.
	Group string
	Count *int
	// File is a request of the API, with groups to add or change.
	File         string
	Unknown      bool
	DeleteGroups []string
	NodeRecovery string
	DryRun       bool
	Yes          bool
	Wait         clusterwait.Flags
}

// NewCmd returns update-cluster. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "update-cluster CLUSTER",
		Short: "Change the instance groups of a HyperPod cluster",
		Long: `Change a HyperPod cluster: scale an instance group, add or change groups from a
file, delete groups, or set the node recovery.

The command reads the cluster, shows what changes and which jobs run on groups
that shrink, and prompts. An update replaces the specification of a group as a
whole, so the command sends back everything that the group has. Groups that do
not change are not sent. In a file, members that are left out keep their values.`,
		Example: `  hyperpod update-cluster ml-prod --group accelerated-p5 --count 12
  hyperpod update-cluster ml-prod -f groups.yaml --dry-run
  hyperpod update-cluster ml-prod --delete-group old --yes --wait`,
		RunE: factory.RunE(o, o.Take, Run, runF),
	}
	o.AddFlags(f, cmd)
	fs := cmd.Flags()
	o.AddGroup(f, cmd, &o.Group, "instance group to scale (with --count)")
	factory.OptionalInt(fs, &o.Count, "count", "new number of instances of the group")
	fs.StringVarP(&o.File, "file", "f", "", "request with groups to add or change, in JSON or YAML; - for stdin")
	factory.TakesFile(fs, "file")
	fs.BoolVar(&o.Unknown, "allow-unknown", false, "send members and values that this version does not know")
	fs.StringSliceVar(&o.DeleteGroups, "delete-group", nil, "delete this instance group with its instances (repeatable)")
	o.CompleteGroups(f, cmd, "delete-group")
	factory.AddChoice(cmd, &o.NodeRecovery, factory.Choice{Name: "node-recovery", Usage: "whether faulty nodes are replaced: Automatic|None", Words: []string{"Automatic", "None"}})
	fs.BoolVar(&o.DryRun, "dry-run", false, "show what would change; send nothing")
	fs.BoolVarP(&o.Yes, "yes", "y", false, "do not prompt for confirmation")
	o.Wait.Add(cmd, "all instance groups are in service")
	return cmd
}

// Validate checks the options alone.
func (o *Options) Validate() error {
	switch {
	case o.Group == "" && o.Count == nil && o.File == "" && len(o.DeleteGroups) == 0 && o.NodeRecovery == "":
		return errs.Usagef("nothing to change").Suggest(errs.Option("--group", "GROUP", "--count", "N"), errs.Option("-f", "FILE"), errs.Option("--delete-group", "GROUP"))
	case o.Group != "" && o.Count == nil:
		return factory.Requires("group", "--count")
	case o.Group == "" && o.Count != nil:
		return factory.Requires("count", "--group")
	case o.Count != nil && (*o.Count < 0 || *o.Count > spec.MostInstances):
		return factory.Invalid("count", *o.Count, fmt.Sprintf("must be 0 to %d", spec.MostInstances))
	case o.Group != "" && slices.Contains(o.DeleteGroups, o.Group):
		return errs.Usagef("instance group %s cannot be scaled and deleted", o.Group)
	case o.File != "" && o.Group != "":
		return factory.Excludes("file", "group")
	case o.DryRun && o.Wait.Wait:
		return factory.Excludes("dry-run", "wait")
	}
	return o.Wait.Validate()
}

// update is a request and what it changes.
type update struct {
	request map[string]any
	lines   []string
	// shrinks are the groups that lose instances.
	shrinks []string
}

// The lists of groups in a description and in a request.
const (
	normal     = "InstanceGroups"
	restricted = "RestrictedInstanceGroups"
)

// Run changes the cluster.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	if o.File != "" { // faults of the file come before requests
		if _, err := o.read(ctx, func(string) bool { return true }, true); err != nil {
			return err
		}
	}
	client, err := f.AWS(ctx, o.Account, "")
	if err != nil {
		return err
	}
	c, doc, err := client.DescribeDocument(ctx, o.Cluster)
	if err != nil {
		return err
	}
	u, err := o.plan(ctx, c, doc)
	if err != nil {
		return err
	}
	if len(u.lines) == 0 {
		f.Notef("nothing to change: cluster %s already has these values", c.Name)
		return document(f, c, c.Status)
	}
	if o.DryRun {
		for _, line := range u.lines {
			f.Notef("%s", line)
		}
		f.Notef("nothing is sent (dry run)")
		return clusterfile.Print(f, u.request)
	}
	f.Notef("changes of cluster %s:", c.Name)
	for _, line := range u.lines {
		f.Notef("  %s", line)
	}
	if err := o.warn(ctx, client, c, u); err != nil {
		return err
	}
	if err := f.Agree(ctx, o.Yes, "Update cluster "+c.Name+"?", errs.Option("--dry-run").WithNote("shows the changes")); err != nil {
		return err
	}
	if err := client.UpdateCluster(ctx, c.Name, u.request); err != nil {
		return err
	}
	return finish(ctx, f, client, c, o.Wait, "Updating cluster ", "Updated cluster ")
}

// finish prints what was started, and waits where that is wanted.
func finish(ctx context.Context, f *factory.Factory, client *aws.Client, c clusters.Cluster, w clusterwait.Flags, began, ended string) error {
	if err := f.PrintDone(began+c.Name, c.Name); err != nil {
		return err
	}
	status := "Updating" // as SageMaker calls it
	if w.Wait {
		if err := w.InService(ctx, f, client, c.Name); err != nil {
			return err
		}
		if status = clusters.InService; f.Global.Output == "" {
			return f.IO.PrintLine(ended + c.Name)
		}
	}
	return document(f, c, status)
}

// document prints what -o json and yaml show of a change that was sent.
func document(f *factory.Factory, c clusters.Cluster, status string) error {
	if f.Global.Output == "" || f.Global.Output == string(output.NameFormat) {
		return nil
	}
	format, err := f.Format()
	if err != nil {
		return err
	}
	return output.Print(f.IO, format, clusterfile.Document{Cluster: c.Name, ClusterArn: c.ARN, ClusterStatus: status}, nil, nil)
}

// read reads the file; exists reports whether the cluster has a group.
func (o *Options) read(ctx context.Context, exists func(string) bool, quiet bool) (map[string]any, error) {
	f := o.Factory
	r := clusterfile.Rules(spec.Rules{Shape: spec.UpdateCluster(), Unknown: o.Unknown, Exists: exists, Named: true, Fixed: []string{"VpcConfig", "Tags"}})
	if quiet && o.File == "-" {
		return nil, nil // stdin is read once
	}
	if !quiet {
		return clusterfile.Read(ctx, f, o.File, "cannot update cluster "+o.Cluster+" from "+o.File, r)
	}
	data, err := f.ReadNamed(ctx, o.File)
	if err != nil {
		return nil, err
	}
	_, faults := spec.Parse(data, r)
	faults = slices.DeleteFunc(faults, spec.Fault.IsWarning) // they are reported once
	return nil, clusterfile.Report(f, o.File, "cannot update cluster "+o.Cluster+" from "+o.File, faults)
}

// plan makes the request.
func (o *Options) plan(ctx context.Context, c clusters.Cluster, doc map[string]any) (update, error) {
	u := update{request: map[string]any{"ClusterName": c.Name}}
	live := map[string]map[string]any{}
	list := map[string]string{}
	for _, key := range []string{normal, restricted} {
		for _, details := range objects(doc[key]) {
			name := text(details, "InstanceGroupName")
			live[name], list[name] = spec.FromDetails(details), key
		}
	}
	change := func(key string, group map[string]any) {
		u.request[key] = append(objectsOf(u.request[key]), group)
	}
	if o.Count != nil {
		if _, err := findnode.Group(c, o.Group); err != nil {
			return u, flagOf(err, "--group")
		}
		after := spec.Merge(live[o.Group], map[string]any{"InstanceCount": *o.Count})
		if u.compare(o.Group, live[o.Group], after) {
			change(list[o.Group], after)
		}
	}
	if o.File != "" {
		if err := o.fromFile(ctx, c, doc, live, list, &u, change); err != nil {
			return u, err
		}
	}
	for _, name := range o.DeleteGroups {
		g, err := findnode.Group(c, name)
		if err != nil {
			return u, flagOf(err, "--delete-group")
		}
		u.lines = append(u.lines, fmt.Sprintf("- instance group %s (%d of %s)", name, g.Current, strings.Join(g.InstanceTypes, " or ")))
		u.shrinks = append(u.shrinks, name)
	}
	if len(o.DeleteGroups) > 0 {
		u.request["InstanceGroupsToDelete"] = append(stringsOf(u.request["InstanceGroupsToDelete"]), o.DeleteGroups...)
	}
	if o.NodeRecovery != "" && o.NodeRecovery != c.NodeRecovery {
		u.request["NodeRecovery"] = o.NodeRecovery
		u.lines = append(u.lines, clustertext.Change(spec.Change{Path: "NodeRecovery", Old: c.NodeRecovery, New: o.NodeRecovery}))
	}
	return u, nil
}

// fromFile adds what a file changes.
func (o *Options) fromFile(ctx context.Context, c clusters.Cluster, doc map[string]any, live map[string]map[string]any, list map[string]string, u *update, change func(string, map[string]any)) error {
	given, err := o.read(ctx, func(name string) bool { return live[name] != nil }, false)
	if err != nil {
		return err
	}
	if name := text(given, "ClusterName"); name != "" && name != c.Name && name != c.ARN {
		return errs.Usagef("%s is about cluster %s, not %s", o.File, name, c.Name).Suggest(errs.Run("update-cluster", name, "-f", o.File))
	}
	for _, key := range []string{normal, restricted} {
		for _, g := range objects(given[key]) {
			name := text(g, "InstanceGroupName")
			have := live[name]
			after := g
			if have != nil {
				after = spec.Merge(have, g)
			}
			if u.compare(name, have, after) {
				change(cmp.Or(list[name], key), after)
			}
		}
	}
	for _, name := range objectsOrTexts(given["InstanceGroupsToDelete"]) {
		if _, err := findnode.Group(c, name); err != nil {
			return err
		}
		if !slices.Contains(o.DeleteGroups, name) {
			u.lines = append(u.lines, "- instance group "+name)
			u.shrinks = append(u.shrinks, name)
			u.request["InstanceGroupsToDelete"] = append(stringsOf(u.request["InstanceGroupsToDelete"]), name)
		}
	}
	for key, value := range given {
		if slices.Contains([]string{"ClusterName", normal, restricted, "InstanceGroupsToDelete"}, key) {
			continue
		}
		changes := spec.Diff(map[string]any{key: doc[key]}, map[string]any{key: value})
		if len(changes) == 0 {
			continue
		}
		u.request[key] = value
		for _, x := range changes {
			u.lines = append(u.lines, clustertext.Change(x))
		}
	}
	slices.Sort(u.lines)
	return nil
}

// compare notes what changes in a group, and reports whether anything does.
func (u *update) compare(name string, before, after map[string]any) bool {
	if before == nil {
		u.lines = append(u.lines, fmt.Sprintf("+ instance group %s (%v of %s)", name, after["InstanceCount"], cmp.Or(text(after, "InstanceType"), "several types")))
		return true
	}
	changes := spec.Diff(before, after)
	for _, x := range changes {
		x.Path = name + "." + x.Path
		u.lines = append(u.lines, clustertext.Change(x))
	}
	if number(after["InstanceCount"]) < number(before["InstanceCount"]) {
		u.shrinks = append(u.shrinks, name)
	}
	return len(changes) > 0
}

// warn names the jobs on groups that lose instances.
func (o *Options) warn(ctx context.Context, client *aws.Client, c clusters.Cluster, u update) error {
	if len(u.shrinks) == 0 {
		return nil
	}
	all, err := client.ListNodes(ctx, c.Name)
	if err != nil {
		return err
	}
	nodes := slices.DeleteFunc(all, func(n clusters.Node) bool { return !slices.Contains(u.shrinks, n.Group) })
	if len(nodes) == 0 {
		return nil
	}
	use, err := findnode.UseOf(ctx, o.Factory, client, c, nodes)
	if err != nil {
		return err
	}
	if len(use.Jobs) > 0 {
		o.Factory.Notef("warning: SageMaker chooses the instances that go; jobs on these groups: %s", clustertext.Jobs(use.Jobs))
	}
	return nil
}

// flagOf changes the flag that an error about a group suggests.
func flagOf(err error, flag string) error {
	e, ok := err.(*errs.Error)
	if !ok {
		return err
	}
	for i, s := range e.Try {
		if len(s.Args) == 2 {
			e.Try[i] = errs.Option(flag, s.Args[1])
		}
	}
	return e
}

func text(m map[string]any, key string) string { s, _ := m[key].(string); return s }

// number reads a count: JSON has floats, a file whole numbers, a flag an int.
func number(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	case int:
		return float64(v)
	}
	return 0
}

func objects(v any) (out []map[string]any) {
	list, _ := v.([]any)
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func objectsOf(v any) []map[string]any { list, _ := v.([]map[string]any); return list }

func stringsOf(v any) []string { list, _ := v.([]string); return list }

func objectsOrTexts(v any) (out []string) {
	list, _ := v.([]any)
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
