// Package doctorcmd is `hyperpod doctor`.
package doctorcmd

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/doctor"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/doctortext"
)

// budget is how long the examinations may take, so that the command ends within 5 s.
const budget = 4 * time.Second

// Options are the flags.
type Options struct{ Factory *factory.Factory }

// Validate checks the options alone.
func (o *Options) Validate() error { return nil }

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	return &cobra.Command{
		Use:   "doctor",
		Short: "Examine settings, connection, permissions and Kueue",
		Long: `Examine what every command depends on, and suggest what to do:

  - the settings, the kubeconfig and the credentials
  - the connection: latency, and the difference between the clocks
  - the namespace, and the permissions of each command there
  - Kueue: versions, controller, webhooks, configuration, queues, and known
    differences between its decisions and the built-in rules
  - the operators of the job kinds, and the health labels of the nodes

Each check is ok, warn, fail or skipped. The command skips checks that you have
no permission for. It changes nothing and takes at most 5 seconds. The exit code
is 3 if a check fails.`,
		Example: `  hyperpod doctor
  hyperpod doctor -n hyperpod-ns-ml-engineers -o json`,
		Args: factory.NoArgs,
		RunE: factory.RunE(o, nil, Run, runF),
	}
}

// Run examines and prints.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	start, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	doc := doctor.Document{Schema: doctor.Schema, Time: f.Now().UTC().Truncate(time.Second)}
	doc.Diagnoses = append(doc.Diagnoses, settings(f))
	cluster, err := f.Cluster(start)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		doc.Diagnoses = append(doc.Diagnoses, noCluster(err))
	} else {
		doc.Server = cluster.Server()
		doc.Diagnoses = append(doc.Diagnoses, doctor.Diagnosis{Code: doctor.Target, Status: doctor.OK, Names: []string{target(cluster)}})
		doctor.Examine(start, subject(f, cluster), &doc)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	doctortext.Fill(doc.Diagnoses, f.Line)
	doc.Close()
	code := errs.OK
	if doc.Status == doctor.Fail {
		code = errs.No
	}
	return output.Answered(output.Print(f.IO, format, doc, func() output.Table { return table(doc, format.Name == output.Wide) }, nil), code)
}

// settings examines the settings again: a fault in them does not keep this command from
// running.
func settings(f *factory.Factory) doctor.Diagnosis {
	if _, _, err := config.Load(f.Env); err != nil {
		return doctor.Diagnosis{Code: doctor.Settings, Status: doctor.Fail, Reason: doctor.Failed, Err: err}
	}
	return doctor.Diagnosis{Code: doctor.Settings, Status: doctor.OK}
}

// noCluster returns the diagnosis about a cluster that cannot be chosen.
func noCluster(err error) doctor.Diagnosis {
	d := doctor.Diagnosis{Code: doctor.Target, Status: doctor.Fail, Reason: doctor.Failed, Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		d.Err = errs.New("the kubeconfig could not be read in time", "").WithCause(err)
	}
	return d
}

// target says which cluster is examined.
func target(c *factory.Cluster) string {
	switch {
	case c.Sandbox != "":
		return "sandbox " + c.Sandbox
	case c.Snapshot != nil:
		return c.Server()
	case c.Context == "":
		return c.Server()
	}
	return "context " + c.Context + ": " + c.Server()
}

func subject(f *factory.Factory, c *factory.Cluster) doctor.Subject {
	var once sync.Once
	var namespace string
	var failed error
	return doctor.Subject{Client: c.Client, Live: c.Sandbox == "" && c.Snapshot == nil, ReadOnly: c.Snapshot != nil, Now: c.Now,
		Namespace: func(ctx context.Context) (string, error) {
			once.Do(func() {
				choice, err := f.Namespace(ctx, c, "list", kinds.PyTorchJob.Resource)
				namespace, failed = choice.Name, err
			})
			return namespace, failed
		}}
}

// words are the statuses in a table.
var words = map[doctor.Status]output.Cell{
	doctor.OK: {Text: "ok", Style: output.Good}, doctor.Warn: {Text: "warn", Style: output.Warn},
	doctor.Fail: {Text: "fail", Style: output.Bad}, doctor.Skipped: {Text: "skipped", Style: output.Dim},
}

// table has a row for each diagnosis; wide adds the commands that lack a permission.
func table(d doctor.Document, wide bool) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "STATUS", Keep: true}, {Title: "CHECK", Keep: true}, {Title: "RESULT", Wrap: true}}}
	for _, x := range d.Diagnoses {
		result := x.Message
		if x.Advice != "" {
			result += "; " + x.Advice
		}
		t.Rows = append(t.Rows, []output.Cell{words[x.Status], {Text: string(x.Code)}, {Text: result}})
		if x.Try != "" {
			t.Rows = append(t.Rows, []output.Cell{{}, {}, {Text: "try: " + x.Try}})
		}
	}
	t.Notes = append(t.Notes, doctortext.Lacking(d, wide)...)
	t.Notes = append(t.Notes, cmp.Or(doctortext.Summary(d), "nothing to examine"))
	return t
}
