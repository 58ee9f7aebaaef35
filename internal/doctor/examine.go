package doctor

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Subject is what to examine.
type Subject struct {
	Client *kube.Client
	// Live: a server behind a network, as opposed to a sandbox or a snapshot.
	Live bool
	// ReadOnly: a snapshot, which has no users.
	ReadOnly bool
	// Namespace returns the namespace that commands work in.
	Namespace func(context.Context) (string, error)
	// Now is the cluster's clock.
	Now func() time.Time
}

// The limits of what is reported as fine.
const (
	// slowFrom is the latency from which commands feel slow.
	slowFrom = 500 * time.Millisecond
	// skewWarn is beyond the error of a clock that is read in whole seconds; skewFail is
	// where AWS refuses signed requests.
	skewWarn, skewFail = 30 * time.Second, 5 * time.Minute
)

// part is one examination. It may add diagnoses and facts of the document under lock.
type part struct {
	codes []Code
	run   func(context.Context, Subject, *findings)
}

// findings collects results of examinations that run side by side.
type findings struct {
	turn chan struct{} // held while something is added
	doc  *Document
	done map[Code]bool
	// closed: the time is over, and nothing is added any more.
	closed bool
}

// add adds diagnoses and changes the document.
func (f *findings) add(change func(*Document), list ...Diagnosis) {
	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	if f.closed {
		return
	}
	if change != nil {
		change(f.doc)
	}
	for _, d := range list {
		f.done[d.Code] = true
		f.doc.Diagnoses = append(f.doc.Diagnoses, d)
	}
}

// Examine runs all examinations at once until the context ends, and adds their results to
// the document in a fixed order. What has no result by then is reported as NoAnswer.
func Examine(ctx context.Context, s Subject, d *Document) {
	f := &findings{turn: make(chan struct{}, 1), doc: &Document{}, done: map[Code]bool{}}
	f.doc.RulesVersion = versions.BuiltIn
	parts := partsOf(s)
	var wg crash.Group
	for _, p := range parts {
		wg.Go(func() { p.run(ctx, s, f) })
	}
	all := make(chan struct{})
	crash.Go(func() { wg.Wait(); close(all) })
	select {
	case <-all:
	case <-ctx.Done():
		// What has ended with the context says so itself.
		select {
		case <-all:
		case <-time.After(grace):
		}
	}
	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	f.closed = true
	for _, p := range parts {
		for _, code := range p.codes {
			if !f.done[code] {
				f.doc.Diagnoses = append(f.doc.Diagnoses, Diagnosis{Code: code, Status: Fail, Reason: NoAnswer})
			}
		}
	}
	order := slices.Concat(codesOf(parts))
	slices.SortStableFunc(f.doc.Diagnoses, func(a, b Diagnosis) int { return slices.Index(order, a.Code) - slices.Index(order, b.Code) })
	found := f.doc.Diagnoses
	if slices.ContainsFunc(found, func(x Diagnosis) bool { return x.Code == Connection && x.Status == Fail }) {
		found = withoutConnection(found)
	}
	rest := *f.doc
	rest.Schema, rest.Time = d.Schema, d.Time
	rest.Server, rest.Namespace = d.Server, f.doc.Namespace
	rest.Diagnoses = append(d.Diagnoses, found...)
	*d = rest
}

// grace is how long an examination may take to report the end of its time.
const grace = 200 * time.Millisecond

func codesOf(parts []part) (out []Code) {
	for _, p := range parts {
		out = append(out, p.codes...)
	}
	return out
}

// withoutConnection skips everything but the connection that failed: nothing else is known. A success comes from an answer
// that an earlier command kept.
func withoutConnection(list []Diagnosis) []Diagnosis {
	out := slices.Clone(list)
	for i, x := range out {
		if x.Code != Connection {
			out[i] = Diagnosis{Code: x.Code, Status: Skipped, Reason: NoConnection}
		}
	}
	return out
}

// partsOf returns the examinations of a cluster.
func partsOf(s Subject) []part {
	list := []part{{[]Code{Connection}, connection}}
	if s.Live {
		list[0].codes = append(list[0].codes, Latency, Clock)
	}
	if !s.ReadOnly {
		list = append(list, part{[]Code{Credentials}, credentials}, part{[]Code{Namespace, Permissions, Services}, examinePermissions})
	}
	list = append(list, part{[]Code{Kueue, Configuration, Rules}, kueue})
	if s.Live {
		list = append(list, part{[]Code{Controller}, controller}, part{[]Code{Webhooks}, webhooks})
	}
	list = append(list, part{[]Code{Queues}, queues}, part{[]Code{QueuePositions}, positions}, part{[]Code{JobKinds}, jobKinds})
	if s.Live {
		list = append(list, part{[]Code{Operators}, operators})
	}
	return append(list, part{[]Code{Nodes}, nodes})
}

// failed returns the diagnosis of a request that failed.
func failed(code Code, err error) Diagnosis {
	switch {
	case kube.IsNotInFile(err), kube.IsForbidden(err):
		return Diagnosis{Code: code, Status: Skipped, Reason: NoPermission, Err: err}
	case kube.IsNotServed(err):
		return Diagnosis{Code: code, Status: Skipped, Reason: NotServed, Err: err}
	case kube.IsUnauthorized(err):
		return Diagnosis{Code: code, Status: Skipped, Reason: NoPermission, Err: err}
	}
	return Diagnosis{Code: code, Status: Fail, Reason: Failed, Err: err}
}

// connection pings twice: the first request may make the connection and run a credential
// plugin, the second measures.
func connection(ctx context.Context, s Subject, f *findings) {
	p, err := s.Client.Ping(ctx)
	switch {
	case err == nil, kube.IsForbidden(err), kube.IsUnauthorized(err):
		// A server that refuses answers.
	case kube.IsNotFound(err):
		f.add(nil, Diagnosis{Code: Connection, Status: Fail, Reason: NotFound})
		return
	default:
		f.add(nil, Diagnosis{Code: Connection, Status: Fail, Reason: Failed, Err: err})
		return
	}
	f.add(func(d *Document) { d.ServerVersion = p.Version }, Diagnosis{Code: Connection, Status: OK, Version: p.Version})
	if !s.Live {
		return
	}
	if err != nil {
		f.add(nil, Diagnosis{Code: Latency, Status: Skipped, Reason: NoPermission}, Diagnosis{Code: Clock, Status: Skipped, Reason: NoPermission})
		return
	}
	if p, err = s.Client.Ping(ctx); err != nil {
		f.add(nil, failed(Latency, err), failed(Clock, err))
		return
	}
	took := p.Received.Sub(p.Sent)
	seconds := took.Seconds()
	f.add(func(d *Document) { d.LatencySeconds = &seconds }, latency(took))
	if p.Date.IsZero() {
		f.add(nil, Diagnosis{Code: Clock, Status: Skipped, Reason: Unknown})
		return
	}
	skew := skewOf(p)
	ahead := skew.Seconds()
	f.add(func(d *Document) { d.ClockSkewSeconds = &ahead }, clock(skew))
}

// skewOf returns how far this machine's clock is ahead of the server's. A difference that the
// whole seconds of the server's answer and the time of the request explain is 0.
func skewOf(p kube.Ping) time.Duration {
	// The server wrote its time at some moment of the request, rounded down.
	earliest, latest := p.Date, p.Date.Add(time.Second)
	switch {
	case p.Sent.After(latest):
		return p.Sent.Sub(latest).Round(time.Second)
	case p.Received.Before(earliest):
		return -earliest.Sub(p.Received).Round(time.Second)
	}
	return 0
}

func latency(took time.Duration) Diagnosis {
	d := Diagnosis{Code: Latency, Status: OK, Took: took}
	if took >= slowFrom {
		d.Status, d.Reason = Warn, Slow
	}
	return d
}

func clock(skew time.Duration) Diagnosis {
	d := Diagnosis{Code: Clock, Status: OK, Took: skew}
	switch abs := time.Duration(math.Abs(float64(skew))); {
	case abs >= skewFail:
		d.Status, d.Reason = Fail, Skewed
	case abs >= skewWarn:
		d.Status, d.Reason = Warn, Skewed
	}
	return d
}

// credentials asks the server who the user is.
func credentials(ctx context.Context, s Subject, f *findings) {
	user, err := s.Client.WhoAmI(ctx)
	switch {
	case err == nil:
		f.add(func(d *Document) { d.User = user }, Diagnosis{Code: Credentials, Status: OK, Names: []string{user}})
	case kube.IsUnauthorized(err):
		f.add(nil, Diagnosis{Code: Credentials, Status: Fail, Reason: Failed, Err: err})
	case kube.IsForbidden(err), kube.IsNotFound(err):
		// Servers before Kubernetes 1.28 do not have the review.
		f.add(nil, Diagnosis{Code: Credentials, Status: Skipped, Reason: NotServed})
	default:
		f.add(nil, Diagnosis{Code: Credentials, Status: Fail, Reason: Failed, Err: err})
	}
}

var anyNamespace = suggest.Namespace("NAME")
