package governancecmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/terraform"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/policytext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// CheckOptions are the flags of governance check.
type CheckOptions struct {
	Factory *factory.Factory
	File    string
	// Capacity are numbers of instances: TYPE=COUNT.
	Capacity []string
	// Live compares with the nodes of the cluster.
	Live   bool
	Strict bool
}

func newCheck(f *factory.Factory, runF func(context.Context, *CheckOptions) error) *cobra.Command {
	o := &CheckOptions{Factory: f}
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Find mistakes in a governance file",
		Long: `Check a governance file against the rules of SageMaker HyperPod task governance
and Kueue, without a cluster. docs/governance-check.md lists the rules.

To check quota against capacity, name the number of instances in the file or
with --capacity, or use --live to read the nodes of the cluster.

FILE can also be what "terraform show -json" prints of a plan or a state; a
finding then names the resource and its attribute.

The exit code is 1 if there are errors; with --strict it is 3 if there are
errors or warnings.`,
		Example: `  hyperpod governance check teams.yaml
  hyperpod governance check teams.yaml --capacity ml.p5.48xlarge=10 --strict
  hyperpod governance check teams.yaml -o sarif > governance.sarif
  terraform show -json tfplan | hyperpod governance check - --strict`,
		RunE: factory.RunE(o, takeFile("check", &o.File), runCheck, runF),
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.File, "file", "f", "", "governance file; - for stdin")
	factory.TakesFile(fs, "file")
	fs.StringArrayVar(&o.Capacity, "capacity", nil, "number of instances, for example ml.p5.48xlarge=10 (repeatable)")
	f.CompleteFlag(cmd, "capacity", factory.WithSuffix(factory.InstanceTypes, "="))
	fs.BoolVar(&o.Live, "live", false, "check quota against the healthy nodes of the cluster")
	fs.BoolVar(&o.Strict, "strict", false, "exit with 3 if there are errors or warnings")
	return cmd
}

// Validate checks the options alone.
func (o *CheckOptions) Validate() error {
	if o.Live && len(o.Capacity) > 0 {
		return factory.Excludes("live", "capacity")
	}
	_, err := o.capacity()
	return err
}

func (o *CheckOptions) capacity() (map[string]int, error) {
	if len(o.Capacity) == 0 {
		return nil, nil
	}
	out := map[string]int{}
	for _, text := range o.Capacity {
		name, count, ok := strings.Cut(text, "=")
		n, err := strconv.Atoi(count)
		if !ok || err != nil || n < 0 {
			return nil, factory.Invalid("capacity", text, "TYPE=COUNT, for example ml.p5.48xlarge=10")
		}
		if _, known := instances.Lookup(name); !known {
			e := errs.NotFoundf("instance type %q not found", name).WithCode(errs.Usage)
			for _, near := range instances.Near(name) {
				e.Suggest(errs.Option("--capacity", near+"="+count))
			}
			return nil, e
		}
		out[instances.Full(name)] = n
	}
	return out, nil
}

// CheckDocument is the JSON of governance check.
type CheckDocument struct {
	Schema                              string
	File                                string
	Valid                               bool
	ErrorCount, WarningCount, NoteCount int
	Findings                            []policy.Finding
}

const checkSchema = "hyperpod.governance-check/v1"

func runCheck(ctx context.Context, o *CheckOptions) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	data, err := f.ReadNamed(ctx, o.File)
	if err != nil {
		return err
	}
	facts := policy.Facts{}
	if facts.Capacity, err = o.capacity(); err != nil {
		return err
	}
	if o.Live {
		_, in, err := readLive(ctx, f, "check", true)
		if err != nil {
			return err
		}
		if err := nodesFailed(in.Missing); err != nil {
			return err
		}
		if facts.Capacity = in.Instances(); facts.Capacity == nil {
			f.Notef("note: quota is not checked against capacity: no permission to list nodes")
		}
	}
	doc, err := report(o.File, data, facts)
	if err != nil {
		return err
	}
	if format.Name == output.SARIF {
		err = output.Print(f.IO, output.Format{Name: output.JSON}, sarif(doc, f.Version), nil, nil)
	} else {
		err = output.Print(f.IO, format, doc, func() output.Table { return findingsTable(f.IO, doc, format.Name == output.Wide) }, nil)
	}
	code := errs.OK
	switch {
	case o.Strict && doc.ErrorCount+doc.WarningCount > 0:
		code = errs.No
	case doc.ErrorCount > 0:
		code = errs.Failure
	}
	return answered(f, err, code)
}

// nodesFailed returns the error of a server that failed to list the nodes, which --live asks for. Without permission, the
// rest is checked.
func nodesFailed(missing []state.Missing) error {
	nodes := slices.DeleteFunc(slices.Clone(missing), func(m state.Missing) bool { return m.Resource.Kind != kinds.Node.Kind })
	if err := factory.Failures(nodes); err != nil {
		return errs.Wrap(err, "cannot check the file against the nodes of the cluster").WithCode(errs.ExitOf(err))
	}
	return nil
}

// answered writes the rest of the output. The exit code is the answer.
func answered(f *factory.Factory, printed error, code errs.Exit) error {
	if printed == nil {
		printed = f.IO.Flush()
	}
	return output.Answered(printed, code)
}

// report checks the text of a file. Faults of the text are errors with code E000; the rules are checked on the rest.
func report(file string, data []byte, facts policy.Facts) (CheckDocument, error) {
	doc := CheckDocument{Schema: checkSchema, File: file, Findings: []policy.Finding{}}
	if terraform.Is(data) {
		source, err := terraform.Read(data)
		if err != nil {
			return doc, policytext.TerraformError(err)
		}
		faults := policy.Unknown(source.Document)
		doc.Findings = append(textFaults(faults), policy.Beside(policy.Check(source.Document, nil, facts), faults)...)
		policytext.Fill(doc.Findings)
		for i := range doc.Findings {
			x := &doc.Findings[i]
			x.Path, x.Line, x.Column = cmp.Or(source.Place(x.Path), x.Path), 0, 0
		}
		return doc.counted(), nil
	}
	d, at, faults := policy.ParsePart(data)
	doc.Findings = append(doc.Findings, textFaults(faults)...)
	if d != nil {
		doc.Findings = append(doc.Findings, policy.Beside(policy.Check(d, at, facts), faults)...)
		policytext.Fill(doc.Findings)
		slices.SortStableFunc(doc.Findings, func(a, b policy.Finding) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
	}
	return doc.counted(), nil
}

func textFaults(faults []policy.Fault) []policy.Finding {
	out := []policy.Finding{}
	for _, fault := range faults {
		out = append(out, policy.Finding{Code: textFault, Level: policy.LevelError, Path: fault.Path,
			Line: fault.Line, Column: fault.Column, Message: policytext.Fault(fault), Source: "docs/governance.md"})
	}
	return out
}

// counted fills in the numbers of findings.
func (doc CheckDocument) counted() CheckDocument {
	for _, x := range doc.Findings {
		switch x.Level {
		case policy.LevelError:
			doc.ErrorCount++
		case policy.LevelWarning:
			doc.WarningCount++
		default:
			doc.NoteCount++
		}
	}
	doc.Valid = doc.ErrorCount == 0
	return doc
}

// textFault is the code of a fault in the text: its field has no value that a rule could check.
const textFault = "E000"

func position(file string, line, column int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, line, column)
}

// findingsTable has a row for each finding. On a terminal, only a wide table has all of many; the others have errors first.
func findingsTable(io *output.IO, d CheckDocument, wide bool) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "POSITION"}, {Title: "LEVEL"}, {Title: "CODE"}, {Title: "MESSAGE", Wrap: true, Below: true}}}
	rows := d.Findings
	if io.Shortens(wide, len(rows)) {
		rows = slices.SortedStableFunc(slices.Values(rows), func(a, b policy.Finding) int { return a.Level.Compare(b.Level) })
	}
	rows, left := output.FewOfEach(io, wide, slices.Collect(slices.Chunk(rows, 1)), func(x policy.Finding) string { return x.Code })
	for _, x := range rows {
		at := position(d.File, x.Line, x.Column)
		if x.Line == 0 && x.Path != "" {
			at = x.Path // a resource of Terraform
		}
		t.Rows = append(t.Rows, output.T(at, strings.ToLower(string(x.Level)), x.Code, x.Message))
	}
	t.Empty = d.File + " is valid"
	if len(t.Rows) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s, %s, %s", words.Count(d.ErrorCount, "error", "errors"), words.Count(d.WarningCount, "warning", "warnings"), words.Count(d.NoteCount, "note", "notes")))
	}
	if left != "" {
		t.Notes = append(t.Notes, left)
	}
	return t
}

// sarif returns a report in the Static Analysis Results Interchange Format 2.1.0 (OASIS).
func sarif(d CheckDocument, version string) map[string]any {
	levels := map[policy.Level]string{policy.LevelError: "error", policy.LevelWarning: "warning", policy.LevelNote: "note"}
	rules := []any{map[string]any{"id": textFault, "shortDescription": map[string]any{"text": "The file must be a valid governance file."}, "defaultConfiguration": map[string]any{"level": "error"}}}
	for _, r := range policy.Rules() {
		rules = append(rules, map[string]any{"id": r.Code, "shortDescription": map[string]any{"text": r.Title},
			"defaultConfiguration": map[string]any{"level": levels[r.Level]}, "properties": map[string]any{"source": r.Source}})
	}
	results := []any{}
	for _, x := range d.Findings {
		results = append(results, map[string]any{"ruleId": x.Code, "level": levels[x.Level], "message": map[string]any{"text": x.Message},
			"locations": []any{map[string]any{"physicalLocation": map[string]any{
				"artifactLocation": map[string]any{"uri": d.File},
				"region":           map[string]any{"startLine": max(x.Line, 1), "startColumn": max(x.Column, 1)}}}}})
	}
	return map[string]any{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []any{map[string]any{"tool": map[string]any{"driver": map[string]any{
			"name": "hyperpod", "version": cmp.Or(version, "dev"), "rules": rules}}, "results": results}}}
}
