package check

import (
	"context"
	"strings"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
	"github.com/hyperpod-cli/hyperpod/internal/present/estimate"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
)

// estimatable is the number of workloads up to which an estimate is made without
// being asked for: it runs the whole cluster forward, which takes a second for
// thousands.
const estimatable = 1500

// estimate says when a job that waits may start. It is left out where the cluster
// is large and no duration was given to assume.
func (c *Checker) estimate(ctx context.Context, r *Request, wl *kueue.Workload, v *Verdict) error {
	if v.Verdict != Waits || !v.Complete || v.Quota.Status != Failed || r.Assume == 0 && len(c.In.Workloads) > estimatable {
		return nil
	}
	now := c.In.Taken
	o := forecast.Options{Now: now, Assume: r.Assume}
	if r.Deadlines != nil {
		o.Deadline = r.Deadlines(ctx)
	}
	world := forecast.Of(c.In)
	world.Now = c.Engine
	e, err := forecast.Workload(ctx, world, o, wl)
	if err != nil {
		return err
	}
	v.ETA = e.Document(now)
	estimate.Fill(v.ETA)
	return nil
}

// etaRow says when the job may start, and what that rests on.
func (v *Verdict) etaRow(p *textpage.Page, age func(time.Duration) string) {
	e := v.ETA
	switch {
	case e == nil || !e.Known() && e.Reason == string(forecast.NotQueued):
		return // nothing to say that is not said already
	case e.Reason == string(forecast.NoDuration) && !e.Known():
		p.Row("starts", "no telling when: "+e.Message+" (--assume-duration assumes one)")
		return
	case !e.Known():
		p.Row("starts", "no telling when: "+e.Message)
		return
	}
	text := "in about " + age(e.Earliest())
	switch latest, ok := e.Latest(); {
	case !ok && e.Earliest() == 0:
		text = "no telling when: " + e.Message
		if e.Reason == string(forecast.Overdue) {
			text = "at any time, " + text
		}
		p.Row("starts", text)
		return
	case !ok:
		text += " or later"
	case latest == 0:
		text = "at any moment"
	case age(latest) != age(e.Earliest()):
		text += " to " + age(latest)
	}
	var basis []string
	for _, b := range e.Basis {
		basis = append(basis, estimate.Basis(b.Source, b.Count))
	}
	text += " (estimate"
	if len(basis) > 0 {
		text += " based on " + strings.Join(basis, ", ")
	}
	p.Row("starts", text+")")
}
