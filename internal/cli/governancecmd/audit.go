package governancecmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/audittext"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// AuditOptions are the flags of governance audit.
type AuditOptions struct {
	Factory *factory.Factory
	// File is compared with the cluster; "": not.
	File    string
	Mapping mappingFlags
	// Rules prints alert rules instead.
	Rules  bool
	Target targetFlags
}

func newAudit(f *factory.Factory, runF func(context.Context, *AuditOptions) error) *cobra.Command {
	o := &AuditOptions{Factory: f, Mapping: newMapping()}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Find why teams wait while quota is idle",
		Long: `List what keeps teams from running, the longest wait first:

  - teams that wait for quota, and the teams that borrow it
  - quota that is idle while others wait, and the one setting that keeps it idle
  - jobs that can never run
  - quota that exceeds what healthy nodes have
  - teams beyond their quota, and lent quota that cannot be reclaimed
  - priority classes that no job uses
  - with --file, differences between a governance file and the cluster, or the
    compute allocations of SageMaker (--cluster-name), and who made the last
    change

The table has about 40 findings, some of each kind; -o wide and JSON have all.

--alert-rules or -o prometheus-rules prints rules for Prometheus that find the
same problems in the metrics of get-quota -o prometheus.`,
		Example: `  hyperpod governance audit
  hyperpod governance audit -f teams.yaml -o json
  hyperpod governance audit -f teams.yaml --cluster-name ml-prod
  hyperpod governance audit --alert-rules > hyperpod-rules.yaml`,
		Args: factory.NoArgs,
		RunE: factory.RunE(o, nil, runAudit, runF),
	}
	cmd.Flags().StringVarP(&o.File, "file", "f", "", "governance file to compare with the cluster")
	factory.TakesFile(cmd.Flags(), "file")
	cmd.Flags().BoolVar(&o.Rules, "alert-rules", false, "print alert rules for Prometheus and read no cluster")
	o.Mapping.add(f, cmd)
	o.Target.add(f, cmd)
	return cmd
}

// Validate checks the options alone.
func (o *AuditOptions) Validate() error {
	switch {
	case o.Rules && o.File != "":
		return factory.Excludes("alert-rules", "file")
	case o.Rules && o.Factory.Global.Output != "" && !strings.EqualFold(o.Factory.Global.Output, string(output.PrometheusRules)):
		return factory.Excludes("alert-rules", "output="+o.Factory.Global.Output)
	case o.rules() && o.File != "":
		return factory.Excludes("output="+string(output.PrometheusRules), "file")
	}
	if flag := o.compares(); flag != "" && o.File == "" {
		return factory.Requires(strings.TrimPrefix(flag, "--"), "--file")
	}
	return o.Target.validate()
}

// compares returns a flag that only the comparison with a file reads, "" if none is given.
func (o *AuditOptions) compares() string {
	switch given := mappingArgs(o.Mapping.mapping()); {
	case len(given) > 0:
		return given[0]
	case o.Target.cluster != "":
		return "--cluster-name"
	case o.Target.target != "":
		return "--target"
	}
	return ""
}

// rules reports whether the command prints alert rules in place of an audit.
func (o *AuditOptions) rules() bool {
	return o.Rules || strings.EqualFold(o.Factory.Global.Output, string(output.PrometheusRules))
}

func runAudit(ctx context.Context, o *AuditOptions) error {
	f := o.Factory
	if o.rules() {
		_, err := fmt.Fprint(f.IO.Out, alertRules())
		return err
	}
	format, c, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	want := state.Want{ClusterQueues: true, Cohorts: true, LocalQueues: true, Workloads: true, PodSets: true, Flavors: true, PriorityClasses: true, Nodes: true}
	findteam.Scope{Namespace: f.Global.Namespace}.Fallbacks(c, &want)
	s, err := state.Load(ctx, c.Client, want, c.Now())
	if err != nil {
		return err
	}
	if err := findteam.NoKueue(s); err != nil {
		if unread := s.MissingOf(kinds.ClusterQueue); len(unread) > 0 && unread[0].Reason == state.Forbidden {
			return unread[0].Err // a namespace does not help
		}
		return err
	}
	f.MissingFigures(s.Missing)
	r := quota.Build(s)
	var rules order.Reader
	doc := audit.Document{Schema: audit.Schema, Time: s.Taken, Complete: r.Complete && queue.Unread(s) == nil,
		Findings: append([]audit.Finding{}, audit.Find(s, r, queue.Build(s, r, r.Teams, rules.Rules(ctx, c.Client, s.Workloads), nil))...)}
	if o.File != "" {
		drift, err := o.drift(ctx, c)
		if err != nil {
			return err
		}
		doc.Findings = append(doc.Findings, drift...)
	}
	audittext.Fill(doc.Findings)
	err = output.Print(f.IO, format, doc, func() output.Table { return auditTable(f.IO, doc, format.Name == output.Wide) }, nil)
	return output.Outcome(err, factory.Failures(s.Missing))
}

// auditTable has a row for each finding. On a terminal, only a wide table has all of many.
func auditTable(io *output.IO, d audit.Document, wide bool) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "FINDING", Keep: true}, {Title: "MESSAGE", Wrap: true}}}
	rows, left := output.FewOfEach(io, wide, audittext.Blocks(d.Findings), func(r audittext.Row) string { return string(r.Code) })
	for _, r := range rows {
		t.Rows = append(t.Rows, output.T(string(r.Code), r.Message))
	}
	t.Empty = "nothing to report: " + audittext.Summary(d.Findings)
	if !d.Complete {
		t.Empty = "nothing to report about what could be read"
	}
	if len(t.Rows) > 0 {
		t.Notes = append(t.Notes, audittext.Summary(d.Findings))
	}
	if left != "" {
		t.Notes = append(t.Notes, left)
	}
	return t
}
