// Package logview prints what the log engine reads: lines on stdout, everything else on
// stderr. get-log and start-job --follow use it.
package logview

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Options control how lines look.
type Options struct {
	Job string // the job's name, for notices
	// Prefix prints the pod before each line.
	Prefix bool
	// Timestamps prints the API's timestamp before each line.
	Timestamps bool
	// JSON makes an object of each line.
	JSON bool
	// Several means that several pods are read side by side. With Follow, their starts
	// and ends are reported.
	Several, Follow bool
	// AllShownBy is the option or the command that shows the logs of all pods. It is set if
	// one of several pods was chosen by default; View then names that pod.
	AllShownBy errs.Suggestion
}

// View is a logs.Sink that prints.
type View struct {
	o        Options
	f        *factory.Factory
	io       *output.IO
	progress *output.Progress
	idle     bool // the progress line is up

	buf   []byte
	open  logs.Source // whose line has not ended; its Pod is "" when there is none
	rest  []byte      // of open: what cannot be shown before more comes
	names map[logs.Source]string
	seen  int // sources that were begun
}

// New returns a View on the factory's streams.
func New(f *factory.Factory, o Options) *View {
	return &View{o: o, f: f, io: f.IO, progress: output.NewProgress(f.IO), names: map[logs.Source]string{}}
}

// Lines prints lines in one write.
func (v *View) Lines(s *logs.Source, lines []logs.Line) error {
	v.rested()
	b := v.buf[:0]
	for i := range lines {
		l := &lines[i]
		if v.o.JSON {
			b = v.appendJSON(b, s, l)
			continue
		}
		goesOn := v.open == *s && l.Rest
		if v.open.Pod != "" && !goesOn {
			b = append(v.flush(b), '\n')
		}
		if !goesOn {
			b = v.begin(b, s, l)
		}
		v.open = *s
		b = v.text(b, s, l)
		if !l.More {
			b = append(v.flush(b), '\n')
			v.open = logs.Source{}
		}
	}
	v.buf = b
	_, err := v.io.Out.Write(b)
	if cap(b) > keepBuffer {
		v.buf = nil
	}
	if err != nil {
		return err
	}
	return v.io.Flush()
}

// keepBuffer is the largest buffer that is kept for the next lines.
const keepBuffer = 256 << 10

// begin appends what comes before a line.
func (v *View) begin(b []byte, s *logs.Source, l *logs.Line) []byte {
	if v.o.Prefix {
		b = append(b, v.prefix(s)...)
	}
	if v.o.Timestamps && len(l.Stamp) > 0 {
		b = append(append(b, l.Stamp...), ' ')
	}
	return b
}

func (v *View) prefix(s *logs.Source) string {
	p, ok := v.names[*s]
	if !ok {
		p = v.io.Hue(output.Safe(s.Pod)) + " | "
		v.names[*s] = p
	}
	return p
}

// text appends a line's text: unchanged in a pipe; on a terminal with escape sequences
// made visible, and a new line for each carriage return.
func (v *View) text(b []byte, s *logs.Source, l *logs.Line) []byte {
	if !v.io.OutTTY {
		return append(b, l.Text...)
	}
	text := l.Text
	if len(v.rest) > 0 {
		text = append(v.rest, text...)
		v.rest = nil
	}
	if !l.More {
		text = bytes.TrimSuffix(text, []byte("\r"))
	}
	for {
		part, after, more := bytes.Cut(text, []byte("\r"))
		var rest []byte
		b, rest = output.AppendLog(b, part, v.io.Color, l.More && !more)
		if v.io.Color {
			b = output.AppendColorReset(b, part)
		}
		if !more {
			v.rest = bytes.Clone(rest)
			return b
		}
		b = v.begin(append(b, '\n'), s, l)
		text = after
	}
}

// flush appends the buffered part of a line that ends now.
func (v *View) flush(b []byte) []byte {
	if len(v.rest) > 0 {
		b, _ = output.AppendLog(b, v.rest, v.io.Color, false)
		v.rest = nil
	}
	return b
}

// Close ends the open line on a terminal and clears the progress line.
func (v *View) Close() {
	v.rested()
	if v.open.Pod != "" && v.io.OutTTY {
		_, _ = v.io.Out.Write(append(v.flush(nil), '\n'))
	}
	v.open = logs.Source{}
}

// rested clears the progress line before something else is printed.
func (v *View) rested() {
	if v.idle {
		v.progress.Done("")
		v.idle = false
	}
}

// note prints a notice above whatever line is open.
func (v *View) note(format string, args ...any) {
	v.above()
	v.f.Notef(format, args...)
}

// above makes room for a notice.
func (v *View) above() {
	v.rested()
	if v.open.Pod != "" && v.io.OutTTY && v.io.ErrTTY {
		_, _ = v.io.Out.Write(append(v.flush(nil), '\n'))
		v.open = logs.Source{}
	}
}

// Event prints a notice, or a progress line on what get-log waits for.
func (v *View) Event(e logs.Event) error {
	switch e.Kind {
	case logs.Waiting:
		v.waiting(e)
	case logs.Started:
		v.started(e.Source)
	case logs.Ended:
		if v.o.Several && v.o.Follow {
			v.note("- %s", e.Source.Pod)
		}
	case logs.Resuming:
		v.note("note: lost the connection to pod %s; resuming", e.Source.Pod)
	case logs.Skipped:
		v.note("warning: %v", jobtext.Error(e.Err))
	case logs.PodFailed:
		v.note("warning: pod %s failed: %s", e.Source.Pod, cmp.Or(jobtext.Cause(e.Trouble), "the reason is unknown"))
	case logs.Changed:
		v.changed(e.Status)
	case logs.Deleted:
		v.note("note: job %s was deleted", v.o.Job)
	}
	return nil
}

func (v *View) waiting(e logs.Event) {
	text := fmt.Sprintf("waiting for job %s: %s", v.o.Job, jobtext.State(e.Status))
	if e.Source != nil {
		if text = fmt.Sprintf("waiting for container %s of pod %s", e.Source.Container, e.Source.Pod); jobtext.Cause(e.Trouble) != "" {
			text += ": " + jobtext.Cause(e.Trouble)
		}
	}
	if e.Status.State == "" {
		v.note("note: %s", text) // the log is not followed: no progress line
		return
	}
	v.idle = true
	v.progress.Update(text)
}

func (v *View) started(s *logs.Source) {
	v.seen++
	run := ""
	if s.Run > 0 {
		run = fmt.Sprintf(", restart %d", s.Run)
	}
	switch {
	case v.o.Several && !v.o.Follow:
	case v.o.Several:
		v.note("+ %s (%s%s)", s.Pod, s.Container, run)
	case v.seen > 1:
		v.note("note: continuing with pod %s (%s%s)", s.Pod, s.Container, run)
	case v.o.AllShownBy.Args != nil && v.o.AllShownBy.Kind == errs.RunCommand:
		v.above()
		v.f.NoteCommand(fmt.Sprintf("note: showing the log of pod %s%s; for all pods:", s.Pod, position(s)), v.o.AllShownBy)
	case v.o.AllShownBy.Args != nil:
		v.note("note: showing the log of pod %s%s; use %s for all pods", s.Pod, position(s), v.o.AllShownBy)
	}
}

// position returns a pod's rank or role in its job.
func position(s *logs.Source) string {
	switch {
	case s.Rank >= 0:
		return fmt.Sprintf(" (rank %d)", s.Rank)
	case s.Role != "":
		return " (" + strings.ToLower(s.Role) + ")"
	}
	return ""
}

func (v *View) changed(s jobs.Status) {
	switch s.State {
	case jobs.Starting, jobs.Running, jobs.Pending, jobs.Suspended, jobs.ZeroReplicas:
		if v.seen == 0 {
			return // the progress line has it
		}
	}
	v.note("note: job %s is %s", v.o.Job, jobtext.State(s))
}

// Verdict returns the error for how a followed job ended: nil if it succeeded, exit
// code 3 if it failed, 5 if it was deleted.
func Verdict(job string, r logs.Result) error {
	switch {
	case r.Deleted:
		return errs.NotFoundf("job %s was deleted", job)
	case r.Status.State == jobs.Failed:
		e := &errs.Error{What: "job " + job + " failed", Why: jobtext.Message(r.Status), Code: errs.No}
		if r.FailedPod != "" {
			e.WithFact("failed first", "pod "+r.FailedPod).Suggest(suggest.PodLog(r.Namespace, job, r.FailedPod))
		}
		return e
	}
	return nil
}
