package check

import (
	"context"
	"fmt"
	"strings"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prose"
)

// estimatable is the number of workloads up to which an estimate is made without
// being asked for: it runs the whole cluster forward, which takes a second for
// thousands.
const estimatable = 1500

// ETA is when the job may start: an estimate.
type ETA struct {
	Known bool
	// Earliest and Latest are seconds from Taken, 0 for now; left out where nothing,
	// or no upper end, is known.
	Earliest *float64 `json:",omitempty"`
	Latest   *float64 `json:",omitempty"`
	// Code and Why say why nothing, or no upper end, is known; see package forecast.
	Code string `json:",omitempty"`
	Why  string `json:",omitempty"`
	// Basis is where the durations are from, and of how many workloads.
	Basis []forecast.Basis `json:",omitempty"`
}

// estimate says when a job that waits may start. It is left out where the cluster
// is large and no duration was given to assume.
func (c *Checker) estimate(ctx context.Context, r *Request, wl *kueue.Workload, v *Verdict) error {
	if v.Verdict != Waits || v.Partial || v.Quota.Status != Failed || r.Assume == 0 && len(c.In.Workloads) > estimatable {
		return nil
	}
	now := c.In.Taken
	o := forecast.Options{Now: now, Assume: r.Assume}
	if r.Deadlines != nil {
		o.Deadline = r.Deadlines(ctx)
	}
	e, err := forecast.Workload(ctx, forecast.Of(c.In), o, wl)
	if err != nil {
		return err
	}
	v.ETA = &ETA{Known: e.Known, Code: string(e.Code), Why: e.Why, Basis: e.Basis}
	if e.Known {
		from, to := e.Wait(now)
		earliest := from.Seconds()
		v.ETA.Earliest = &earliest
		if !e.Latest.IsZero() {
			latest := to.Seconds()
			v.ETA.Latest = &latest
		}
	}
	return nil
}

// etaRow says when the job may start, and what that rests on.
func (v *Verdict) etaRow(p *prose.Page, age func(time.Duration) string) {
	e := v.ETA
	switch {
	case e == nil || !e.Known && e.Code == string(forecast.NotQueued):
		return // nothing to say that is not said already
	case e.Code == string(forecast.NoDuration) && !e.Known:
		p.Row("starts", "no telling when: "+e.Why+" (--assume-duration assumes one)")
		return
	case !e.Known || e.Earliest == nil:
		p.Row("starts", "no telling when: "+e.Why)
		return
	}
	seconds := func(s float64) string { return age(time.Duration(s) * time.Second) }
	text := "in about " + seconds(*e.Earliest)
	switch {
	case e.Latest == nil:
		text += " or later"
	case seconds(*e.Latest) != seconds(*e.Earliest):
		text += " to " + seconds(*e.Latest)
	}
	var basis []string
	for _, b := range e.Basis {
		basis = append(basis, fmt.Sprintf("%d %s", b.Count, b.Source.Words()))
	}
	text += ", an estimate"
	if len(basis) > 0 {
		text += ": jobs end " + strings.Join(basis, ", ")
	}
	p.Row("starts", text)
}
