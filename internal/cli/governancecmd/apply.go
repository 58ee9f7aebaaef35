package governancecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/apply"
	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/plantext"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// usualTimeout is the default of --timeout.
const usualTimeout = time.Minute

// ApplyOptions are the flags of governance apply.
type ApplyOptions struct {
	Factory *factory.Factory
	File    string
	// Plan is a file of governance plan --out, in place of File.
	Plan    string
	Mapping mappingFlags
	Prune   bool
	Yes     bool
	DryRun  bool
	// ForceFields takes over fields that others manage.
	ForceFields bool
	// Backup is where to keep the current state; "" beside the file, "none" nowhere.
	Backup  string
	Timeout time.Duration
	Target  targetFlags
	// planOf is the governance file of the saved plan.
	planOf string
	// Recreate are teams, or policy, to delete and create again where SageMaker failed to
	// change them.
	Recreate []string
	// DropTags creates resources again without tags that cannot be read.
	DropTags bool
}

func newApply(f *factory.Factory, runF func(context.Context, *ApplyOptions) error) *cobra.Command {
	o := &ApplyOptions{Factory: f, Mapping: newMapping()}
	cmd := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Make the changes of a governance file on the cluster",
		Long: `Show the plan of a governance file, prompt, and write the Kueue objects with
server-side apply: namespaces, LocalQueues, ClusterQueues, flavors, cohorts and
priority classes.

On clusters with the task governance add-on, the add-on overwrites such changes.
Change those teams with --target sagemaker. It creates and updates compute
allocations and the policy of a HyperPod cluster, and waits until SageMaker has
made each change.

The command first sends Kueue objects as a dry run. It applies increases of
quota before decreases. The command stops at the first failure and lists what is
done and what is left; run it again to continue. It saves the previous state to
a file, so that you can go back.`,
		Example: `  hyperpod governance apply -f teams.yaml
  hyperpod governance apply -f teams.yaml --yes --sandbox
  hyperpod governance apply -f teams.yaml --target sagemaker --cluster-name ml-prod
  hyperpod governance apply --plan plan.json`,
		RunE: factory.RunE(o, o.take, runApply, runF),
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.File, "file", "f", "", "governance file; - for stdin")
	factory.TakesFile(fs, "file")
	fs.StringVar(&o.Plan, "plan", "", "apply exactly a plan saved with governance plan --out")
	factory.TakesFile(fs, "plan")
	fs.BoolVar(&o.Prune, "prune", false, "remove teams and priority classes that are not in the file")
	fs.BoolVarP(&o.Yes, "yes", "y", false, "do not prompt for confirmation")
	fs.BoolVar(&o.DryRun, "dry-run", false, "validate the changes with a dry run on the cluster; send nothing to SageMaker")
	fs.BoolVar(&o.ForceFields, "force-fields", false, "take over fields that other programs manage")
	fs.StringVar(&o.Backup, "backup", "", "file to save the current state to, or none (default: next to the governance file)")
	factory.TakesFile(fs, "backup")
	fs.DurationVar(&o.Timeout, "timeout", usualTimeout, "how long to wait until the ClusterQueues are active, or for each change of SageMaker (0: do not wait)")
	fs.StringArrayVar(&o.Recreate, "recreate", nil, "delete and create again a team, or policy, that SageMaker failed to create or change (repeatable)")
	fs.BoolVar(&o.DropTags, "drop-tags", false, "with --recreate: create without the previous tags where they cannot be read")
	o.Mapping.add(f, cmd)
	o.Target.add(f, cmd)
	f.CompleteFlag(cmd, "recreate", o.toRecreate)
	return cmd
}

// toRecreate completes --recreate for the cluster that the flags or the file name.
func (o *ApplyOptions) toRecreate(ctx context.Context, f *factory.Factory) ([]string, error) {
	var doc *policy.Document
	if o.Target.cluster == "" && o.File != "" && o.File != "-" {
		var err error
		if doc, _, err = parse(ctx, f, o.File); err != nil {
			return nil, err
		}
	}
	cluster, err := o.Target.name(doc)
	if err != nil {
		return nil, err
	}
	r, err := openRemote(ctx, f, o.Target.account, cluster)
	if err != nil {
		return nil, err
	}
	return r.state.ToRecreate(), nil
}

func (o *ApplyOptions) take(cmd *cobra.Command, args []string) error {
	if o.Plan != "" {
		if o.File != "" || len(args) > 0 {
			return factory.Excludes("plan", "file")
		}
		return nil
	}
	return takeFile("apply", &o.File)(cmd, args)
}

// Validate checks the options alone.
func (o *ApplyOptions) Validate() error {
	if o.Plan != "" && o.Prune {
		return factory.Excludes("plan", "prune")
	}
	if o.Timeout < 0 {
		return factory.Invalid("timeout", o.Timeout, "at least 0")
	}
	if o.Plan != "" && (o.Target.cluster != "" || o.Target.target != "") {
		return errs.Usagef("--plan cannot be used with --target or --cluster-name: the plan has them")
	}
	if len(o.Recreate) > 0 && !o.Target.remote() {
		return factory.Requires("recreate", "--target sagemaker")
	}
	if o.DropTags && len(o.Recreate) == 0 {
		return factory.Requires("drop-tags", "--recreate")
	}
	if o.ForceFields && o.Target.remote() {
		return errs.Usagef("--force-fields cannot be used with --target sagemaker: SageMaker changes only the version that was read")
	}
	return o.Target.validate()
}

func runApply(ctx context.Context, o *ApplyOptions) error {
	f := o.Factory
	r, saved, err := o.request(ctx)
	if err != nil {
		return err
	}
	if saved != nil {
		o.planOf = saved.file()
	}
	if o.Target.remote() || saved != nil && saved.Target == plan.SageMaker {
		return applyRemote(ctx, o, r, saved)
	}
	cluster, err := f.Cluster(ctx)
	if err != nil {
		return err
	}
	p, live, in, err := build(ctx, f, r, true)
	if err != nil {
		return err
	}
	if err := o.unmoved(saved, fingerprints(live)); err != nil {
		return err
	}
	refused := policy.Worst(p.Findings) == policy.LevelError
	if len(p.Operations) == 0 && !refused {
		return show(f, output.Format{Name: output.TableFormat}, p)
	}
	if err := foresee(ctx, f, p, in); err != nil {
		return err
	}
	apply.SetOwners(ctx, cluster.Client, p.Operations)
	if err := o.show(p); err != nil {
		return err
	}
	if refused {
		return errs.New("cannot apply "+r.File, "the plan has errors")
	}
	opts := apply.Options{Force: o.ForceFields}
	if err := apply.Check(ctx, cluster.Client, p.Operations, opts); err != nil {
		return o.failed(ctx, r, err, true)
	}
	if o.DryRun {
		f.Notef("the cluster accepts all changes (dry run)")
		return nil
	}
	if err := o.confirmed(ctx, p); err != nil {
		return err
	}
	before, _ := policy.FromKueue(live, r.Mapping)
	if err := o.backup(before, p, r.File, mappingArgs(r.Mapping)...); err != nil {
		return err
	}
	opts.Done = o.done
	if err := apply.Run(ctx, cluster.Client, p.Operations, opts); err != nil {
		return o.failed(ctx, r, err, false)
	}
	return o.settle(ctx, cluster, p.Operations)
}

// request returns what to plan: the governance file, or what a saved plan contains.
func (o *ApplyOptions) request(ctx context.Context) (plan.Request, *savedPlan, error) {
	if o.Plan != "" {
		saved, err := load(ctx, o.Factory, o.Plan)
		if err != nil {
			return plan.Request{}, nil, err
		}
		return plan.Request{File: o.Plan, Document: saved.Document, Mapping: saved.Mapping, Prune: saved.Prune}, saved, nil
	}
	document, at, err := parse(ctx, o.Factory, o.File)
	return plan.Request{File: o.File, Document: document, At: at, Mapping: o.Mapping.mapping(), Prune: o.Prune}, nil, err
}

// show prints the plan, unless nobody asked for more than what is done.
func (o *ApplyOptions) show(p *plan.Plan) error {
	if o.Factory.Global.Quiet && (o.Yes || o.DryRun) {
		return nil
	}
	return show(o.Factory, output.Format{Name: output.TableFormat}, p)
}

// unmoved refuses a saved plan when what governs the cluster changed in between.
func (o *ApplyOptions) unmoved(saved *savedPlan, now map[string]string) error {
	if saved == nil {
		return nil
	}
	changed := moved(saved.Cluster, now)
	if len(changed) == 0 {
		return nil
	}
	return errs.New("cannot apply "+o.Plan, "the cluster changed since the plan").WithFact("changed", strings.ReplaceAll(words.Some(changed, 8), " /", " ")).
		Suggest(errs.Run("governance", "plan", "-f", saved.file(), "--out", o.Plan))
}

// done prints an operation that was made.
func (o *ApplyOptions) done(op policy.Operation) {
	verb := map[policy.Action]string{policy.Create: "Created", policy.Update: "Changed", policy.Delete: "Deleted"}[op.Action]
	fmt.Fprintln(o.Factory.IO.Out, output.Safe(fmt.Sprintf("%s %s", verb, nameOf(op))))
}

func nameOf(op policy.Operation) string {
	if op.Namespace != "" {
		return op.Kind + " " + op.Namespace + "/" + op.Name
	}
	return op.Kind + " " + op.Name
}

// confirmed prompts, unless --yes.
func (o *ApplyOptions) confirmed(ctx context.Context, p *plan.Plan) error {
	one, many := "object", "objects"
	if p.Target == plan.SageMaker {
		one, many = "resource", "resources"
	}
	question := "Change " + words.Count(len(p.Operations), one, many)
	if c := p.Consequences; c != nil && len(c.Preempted) > 0 {
		question += ", preempt " + words.Count(len(c.Preempted), "job", "jobs")
	}
	if n := len(p.Removed); n > 0 {
		question += ", and DELETE " + words.Count(n, "namespace", "namespaces") + " with everything in " + words.Verb(n, "it", "them")
	}
	return o.Factory.Agree(ctx, o.Yes, question+"?", errs.Option("--dry-run").WithNote("checks the changes"))
}

// backup keeps the current state in a file. The flags are those that an apply of it needs.
func (o *ApplyOptions) backup(doc *policy.Document, p *plan.Plan, file string, flags ...string) error {
	path := o.Backup
	switch {
	case path == "none":
		return nil
	case path == "" && file == "-":
		path = "governance.before.yaml"
	case path == "":
		base, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), ".before-")
		path = filepath.Join(filepath.Dir(file), base) + ".before-" + o.Factory.Now().UTC().Format("20060102T150405Z") + ".yaml"
	}
	text, err := policy.Marshal(doc)
	if err != nil {
		return err
	}
	if _, err := atomicfile.Write(path, func(w *os.File) error { _, err := w.Write(text); return err }); err != nil {
		return errs.New("cannot save the current state to "+path, errs.FileReason(err)).WithCause(err).
			Suggest(errs.Option("--backup", "FILE"), errs.Option("--backup", "none"))
	}
	o.Factory.NoteCommand("to undo:", errs.Run("governance", append([]string{"apply", "-f", path}, flags...)...))
	var added []string
	for _, c := range p.Actions {
		if c.Action == policy.Create && c.Field == "" {
			added = append(added, c.Team)
		}
	}
	if len(added) > 0 {
		o.Factory.Notef("undoing keeps %s: %s (--prune removes %s)", words.Count(len(added), "new team", "new teams"), words.Some(added, 8), words.Verb(len(added), "it", "them"))
	}
	return nil
}

// failed words the failure of an operation.
func (o *ApplyOptions) failed(ctx context.Context, r plan.Request, err error, check bool) error {
	var fail *apply.Failure
	if !errors.As(err, &fail) {
		return err
	}
	what := "cannot apply the change of " + nameOf(fail.Operation)
	e := errs.Wrap(fail.Err, what).WithCode(errs.ExitOf(fail.Err))
	var changed *apply.ChangedError
	switch {
	case errors.As(fail.Err, &changed):
		e = changedSince(what, changed)
	case !check && errors.Is(fail.Err, context.Canceled):
		e = factory.Interrupted("the cluster may still make the change of " + nameOf(fail.Operation))
	}
	if kube.IsOwned(fail.Err) && !o.ForceFields {
		e.Suggest(o.forced(r))
	}
	if check {
		e.WithFact("changed", "nothing: this was a dry run of all changes")
	} else {
		e.WithFact("done", fmt.Sprintf("%d of %d changes", len(fail.Done), len(fail.Done)+len(fail.Left))).WithFact("left", words.Some(namesOf(fail.Left), 8))
	}
	if changed != nil {
		o.replan(ctx, r)
	}
	if changed != nil || !check {
		e.Suggest(errs.Run("governance", append(o.planArgs(), mappingArgs(r.Mapping)...)...).WithNote("shows the remaining changes"))
	}
	return e
}

// forced returns the same command with --force-fields: the flag alone where stdin, which is used up, has the file.
func (o *ApplyOptions) forced(r plan.Request) errs.Suggestion {
	const note = "takes over the fields"
	args := []string{"apply", "--plan", o.Plan}
	switch {
	case o.Plan != "":
	case o.File == "-":
		return errs.Option("--force-fields").WithNote(note)
	default:
		args = append([]string{"apply", "-f", o.File}, mappingArgs(r.Mapping)...)
	}
	if o.Prune {
		args = append(args, "--prune")
	}
	if o.Backup != "" {
		args = append(args, "--backup", o.Backup)
	}
	if o.Timeout != usualTimeout {
		args = append(args, "--timeout", o.Timeout.String())
	}
	if o.Target.target != "" {
		args = append(args, "--target", o.Target.target)
	}
	if o.DryRun {
		args = append(args, "--dry-run")
	}
	if o.Yes {
		args = append(args, "--yes")
	}
	return errs.Run("governance", append(args, "--force-fields")...).WithNote(note)
}

// changedSince returns the error of an object that somebody else changed.
func changedSince(what string, changed *apply.ChangedError) *errs.Error {
	why := "somebody else changed it since the plan"
	if changed.Gone {
		why = "somebody else deleted it since the plan"
	}
	e := errs.New(what, why).WithCause(changed)
	by, at := audit.LastChange(changed.Managers)
	if by != "" {
		e.WithFact("changed by", by)
	}
	if !at.IsZero() {
		e.WithFact("changed at", at.UTC().Format(time.RFC3339))
	}
	return e
}

// replan shows what the document changes now that somebody else changed the cluster.
func (o *ApplyOptions) replan(ctx context.Context, r plan.Request) {
	p, _, _, err := build(ctx, o.Factory, r, true)
	if err != nil {
		return // the failure itself is reported
	}
	o.planned(p)
}

// planned prints the changes of another plan.
func (o *ApplyOptions) planned(p *plan.Plan) {
	o.Factory.Notef("the plan is now:")
	for _, line := range plantext.Changes(p) {
		o.Factory.Notef("  %s", line)
	}
	if !p.Changes {
		o.Factory.Notef("  %s", plantext.Summary(p))
	}
}

// planArgs are the arguments of the command that shows the remaining changes.
func (o *ApplyOptions) planArgs() []string {
	args := []string{"plan", "-f", cmp.Or(o.File, o.planOf)}
	if o.Prune {
		args = append(args, "--prune")
	}
	return args
}

func namesOf(ops []policy.Operation) []string {
	var out []string
	for _, op := range ops {
		out = append(out, nameOf(op))
	}
	return out
}

// settle waits until Kueue uses the changed queues.
func (o *ApplyOptions) settle(ctx context.Context, c *factory.Cluster, ops []policy.Operation) error {
	if o.Timeout == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	idle, err := apply.Wait(ctx, c.Client, ops, tick.C)
	if err != nil || len(idle) == 0 {
		return err
	}
	e := errs.New("applied, but some ClusterQueues are not active", "Kueue does not use them")
	for _, q := range idle {
		e.WithFact(q.Queue, strings.TrimSpace(q.Reason+" "+q.Message))
	}
	return e
}
