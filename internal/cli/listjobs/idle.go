package listjobs

import (
	"context"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/prometheusflags"
	"github.com/hyperpod-cli/hyperpod/internal/deviceuse"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/prometheus"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// measures reports whether the list shows how busy accelerators are: on request, since that asks another server.
func (o *Options) measures() bool { return o.Idle || o.Prometheus.Address != "" }

// prometheus returns the client of the server to ask, nil for none.
func (o *Options) prometheus() (*prometheus.Client, error) {
	if !o.measures() {
		return nil, o.Prometheus.Unasked()
	}
	c, err := o.Prometheus.Client(o.Factory)
	if err == nil && c == nil {
		err = errs.Usagef("--idle requires a Prometheus server with metrics of accelerators").
			Suggest(errs.Option("--prometheus", "https://HOST"), errs.Run("config", "set", "prometheus", "https://HOST").WithNote("for all commands"))
	}
	return c, err
}

// measure asks how busy the accelerators of jobs are; nil where there is no server to ask.
func measure(ctx context.Context, prom *prometheus.Client, c *factory.Cluster, namespace string, all []state.Job) (map[deviceuse.Key]deviceuse.Use, []state.Missing, error) {
	if prom == nil {
		return nil, nil, nil
	}
	return (&prometheusflags.Reader{Client: prom}).Read(ctx, c, namespace, all)
}

// idle reports a job that does nothing with its accelerators.
func (r row) idle(now time.Time) bool {
	ran, _ := jobs.RunTimes(r.job, r.status, now)
	return r.use != nil && ran != nil && deviceuse.Idle(*r.use, *ran)
}

// withUtilization adds a column behind the size.
func withUtilization(t *output.Table, rows []row) {
	at := slices.IndexFunc(t.Columns, func(c output.Column) bool { return c.Title == "SIZE" }) + 1
	t.Columns = slices.Insert(t.Columns, at, output.Column{Title: "UTIL", Right: true, Keep: true})
	for i, r := range rows {
		t.Rows[i] = slices.Insert(t.Rows[i], at, output.Cell{Text: jobtext.Share(r.use)})
	}
}
