package governancecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/apply"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/plantext"
	"github.com/hyperpod-cli/hyperpod/internal/present/policytext"
	"github.com/hyperpod-cli/hyperpod/internal/present/simulation"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// PlanOptions are the flags of governance plan.
type PlanOptions struct {
	Factory *factory.Factory
	File    string
	Mapping mappingFlags
	Prune   bool
	// NoConsequences leaves out what happens to jobs.
	NoConsequences bool
	// Out is where to save the plan for an apply of exactly it.
	Out    string
	Target targetFlags
}

func newPlan(f *factory.Factory, runF func(context.Context, *PlanOptions) error) *cobra.Command {
	o := &PlanOptions{Factory: f, Mapping: newMapping()}
	cmd := &cobra.Command{
		Use:   "plan -f FILE",
		Short: "Show what a governance file changes for quota and jobs",
		Long: `Compare a governance file with the cluster: which teams, quota and policy
change, the figures of get-quota before and after, and which jobs are preempted,
start or can no longer run, by Kueue's own rules on the current state. The
command changes nothing.

Teams and priority classes that are not in the file stay unless --prune is set.

With --target sagemaker, the command compares the file with the compute
allocations and the policy of a HyperPod cluster. It computes the effect on jobs
if you have permission to read the EKS cluster.

The exit code is 0 if nothing changes, 3 if something does, and 1 on failure.`,
		Example: `  hyperpod governance plan -f teams.yaml
  hyperpod governance plan -f teams.yaml --snapshot cluster.json.gz -o markdown
  hyperpod governance plan -f teams.yaml --target sagemaker --cluster-name ml-prod
  hyperpod governance plan -f teams.yaml --out plan.json`,
		RunE: factory.RunE(o, takeFile("plan", &o.File), runPlan, runF),
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.File, "file", "f", "", "governance file; - for stdin")
	factory.TakesFile(fs, "file")
	fs.BoolVar(&o.Prune, "prune", false, "remove teams and priority classes that are not in the file")
	fs.BoolVar(&o.NoConsequences, "no-consequences", false, "skip the effects on jobs (faster)")
	fs.StringVar(&o.Out, "out", "", "save the plan for governance apply --plan")
	factory.TakesFile(fs, "out")
	o.Mapping.add(f, cmd)
	o.Target.add(f, cmd)
	return cmd
}

// Validate checks the options alone.
func (o *PlanOptions) Validate() error { return o.Target.validate() }

func runPlan(ctx context.Context, o *PlanOptions) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	doc, at, err := parse(ctx, f, o.File)
	if err != nil {
		return err
	}
	p, saved, err := o.compare(ctx, plan.Request{File: o.File, Document: doc, At: at, Mapping: o.Mapping.mapping(), Prune: o.Prune})
	if err != nil {
		return err
	}
	if o.Out != "" {
		if err := saved.write(o.Out); err != nil {
			return err
		}
		f.NoteCommand("saved the plan:", errs.Run("governance", "apply", "--plan", o.Out))
	}
	code := errs.OK
	if p.Changes {
		code = errs.No
	}
	return answered(f, show(f, format, p), code)
}

// compare plans with the cluster or with SageMaker, and says what to save of it.
func (o *PlanOptions) compare(ctx context.Context, r plan.Request) (*plan.Plan, savedPlan, error) {
	if o.Target.remote() {
		name, err := o.Target.name(r.Document)
		if err != nil {
			return nil, savedPlan{}, err
		}
		remote, err := openRemote(ctx, o.Factory, o.Target.account, name)
		if err != nil {
			return nil, savedPlan{}, err
		}
		p, err := buildRemote(ctx, remote, r, recreation{}, !o.NoConsequences)
		return p, savedOf(r, plan.SageMaker, remote.cluster.ARN, remote.state.Versions()), err
	}
	p, live, in, err := build(ctx, o.Factory, r, true)
	if err != nil {
		return nil, savedPlan{}, err
	}
	if c, err := o.Factory.Cluster(ctx); err == nil && c.Snapshot == nil {
		apply.SetOwners(ctx, c.Client, p.Operations)
	}
	var saved savedPlan
	if o.Out != "" {
		saved = savedOf(r, plan.Kueue, "", fingerprints(live))
	}
	if !o.NoConsequences {
		err = foresee(ctx, o.Factory, p, in)
	}
	return p, saved, err
}

// noTeams returns the error about --prune with a file that has no teams.
func noTeams(file string) *errs.Error {
	return errs.Usagef("%s has no teams: --prune would remove all teams of the cluster", file).
		Suggest(errs.Run("governance", "plan", "-f", file).WithNote("without --prune: keeps the teams"), errs.Run("governance", "export").WithNote("prints the teams of the cluster as a file"))
}

// mostErrors is the number of errors of a file that an error message lists.
const mostErrors = 20

// refuse returns the error of a document with errors.
func refuse(r plan.Request, facts policy.Facts) error {
	found := policy.Check(r.Document, r.At, facts)
	if policy.Worst(found) != policy.LevelError {
		return nil
	}
	policytext.Fill(found)
	e := errs.New("cannot plan "+r.File, "the file has errors")
	errors := 0
	for _, x := range found {
		if x.Level != policy.LevelError {
			continue
		}
		if errors++; errors <= mostErrors {
			e.WithFact(position(r.File, x.Line, x.Column), x.Code+" "+x.Message)
		}
	}
	if errors > mostErrors {
		e.WithFact("more", words.Count(errors-mostErrors, "error", "errors")).Suggest(errs.Run("governance", "check", "-f", r.File))
	}
	return e
}

// build reads the cluster, with jobs for what a plan does to them, and compares. A document
// with errors is refused.
func build(ctx context.Context, f *factory.Factory, r plan.Request, withJobs bool) (*plan.Plan, *policy.Live, *inputs.Inputs, error) {
	if err := refuse(r, policy.Facts{}); err != nil {
		return nil, nil, nil, err
	}
	live, in, err := readLive(ctx, f, "plan", withJobs)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := readable(in); err != nil {
		return nil, nil, nil, err
	}
	if c, err := f.Cluster(ctx); withJobs && err == nil && c.Snapshot != nil {
		c.Snapshot.Release() // everything is read, and the plan needs the memory
	}
	r.Live, r.Inputs = live, in
	p, err := plan.Build(r)
	if errors.Is(err, plan.ErrEmpty) {
		return nil, nil, nil, noTeams(r.File).WithCause(err)
	}
	if err != nil {
		return nil, nil, nil, errs.Wrap(err, "cannot plan "+r.File)
	}
	if err := absent(ctx, f, p); err != nil {
		return nil, nil, nil, err
	}
	policytext.Fill(p.Findings)
	p.Missing = state.UnreadOf(in.Missing)
	return p, live, in, nil
}

// absent returns the error of a plan that creates objects of a kind that a file of Kubernetes objects lacks: the cluster
// may have them.
func absent(ctx context.Context, f *factory.Factory, p *plan.Plan) error {
	c, err := f.Cluster(ctx)
	if err != nil || c.Snapshot == nil || !c.Snapshot.Plain {
		return err
	}
	for _, r := range []kinds.Resource{kinds.WorkloadPriorityClass, kinds.ResourceFlavor, kinds.Cohort, kinds.LocalQueue} {
		creates := slices.ContainsFunc(p.Operations, func(op policy.Operation) bool { return op.Action == policy.Create && op.Kind == r.Kind })
		if creates && c.Snapshot.Count(r) == 0 {
			path, err := f.SnapshotPath()
			if err != nil {
				return err
			}
			return errs.New("cannot plan "+p.File, path+" has no "+r.Plural+", and the cluster may have some").
				WithAdvice("add them to the file, or use a snapshot from save-snapshot")
		}
	}
	return nil
}

// foresee simulates a plan on the objects that were read.
func foresee(ctx context.Context, f *factory.Factory, p *plan.Plan, in *inputs.Inputs) error {
	if workloadsAbsent(in) {
		p.Unforeseen = true
		f.Notef("note: the effects on jobs are unknown: the file has no workloads")
		return nil
	}
	if err := simulation.Error(p.Foresee(ctx, in)); err != nil {
		return errs.Wrap(err, "cannot simulate the plan").WithCode(errs.ExitOf(err))
	}
	if p.Consequences != nil {
		simulation.Problems(p.Consequences.Problems)
		simulation.Notes(p.Consequences.Notes)
	}
	return nil
}

// show prints a plan.
func show(f *factory.Factory, format output.Format, p *plan.Plan) error {
	if format.Name == output.Markdown {
		_, err := fmt.Fprint(f.IO.Out, output.SafeLines(plantext.Markdown(p)))
		return err
	}
	if !format.IsTable() {
		return output.Print(f.IO, format, p, nil, nil)
	}
	paragraphs := [][]string{plantext.Changes(p)}
	if c := p.Consequences; c != nil {
		most := plantext.MostRows
		if format.Name == output.Wide {
			most = 0
		}
		if rows, more := plantext.Rows(c, most); len(rows) > 0 {
			if err := lines(f, paragraphs...); err != nil {
				return err
			}
			if len(paragraphs[0]) > 0 {
				fmt.Fprintln(f.IO.Out)
			}
			if err := output.Print(f.IO, format, p, func() output.Table { return figures(rows, more) }, nil); err != nil {
				return err
			}
			fmt.Fprintln(f.IO.Out)
			paragraphs = nil
		}
		paragraphs = append(paragraphs, output.Sentences(plantext.Effects(c), f.IO.Width))
	}
	return lines(f, append(paragraphs, output.Sentences(plantext.Remarks(p), f.IO.Width), output.Sentences([]string{plantext.Summary(p)}, f.IO.Width))...)
}

// lines prints paragraphs, with an empty line between them.
func lines(f *factory.Factory, paragraphs ...[]string) error {
	var out []string
	for _, texts := range paragraphs {
		if len(out) > 0 && len(texts) > 0 {
			out = append(out, "")
		}
		out = append(out, texts...)
	}
	for _, l := range out {
		if _, err := fmt.Fprintln(f.IO.Out, output.Safe(l)); err != nil {
			return err
		}
	}
	return nil
}

func figures(rows []plantext.Row, more int) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "TEAM", Keep: true}, {Title: "RESOURCE"}}}
	for i, title := range plantext.Figures {
		t.Columns = append(t.Columns, output.Column{Title: title, Right: true, Yield: []int{0, 0, 3, 5, 4, 2, 1, 0, 0}[i]})
	}
	for _, r := range rows {
		t.Rows = append(t.Rows, output.T(append([]string{r.Team, r.Resource}, r.Cells...)...))
	}
	if more > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d more rows (see -o wide)", more))
	}
	return t
}
