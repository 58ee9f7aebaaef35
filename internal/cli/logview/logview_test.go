package logview

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

var (
	zero = &logs.Source{Pod: "train-0", UID: "a", Container: "pytorch", Role: "Worker", Rank: 0}
	one  = &logs.Source{Pod: "train-1", UID: "b", Container: "pytorch", Rank: -1}
	when = time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
)

func view(o Options, tty, color bool) (*View, output.Buffers) {
	s, b := output.Test()
	s.OutTTY, s.ErrTTY, s.Color = tty, tty, color
	return New(&factory.Factory{IO: s}, o), b
}

// part makes a line, or a part of one: "~" before goes on, "~" behind is not the end.
func part(text string) logs.Line {
	l := logs.Line{Stamp: []byte("2026-01-02T03:04:05.0000006Z"), Time: when}
	text, l.Rest = strings.CutPrefix(text, "~")
	text, l.More = strings.CutSuffix(text, "~")
	l.Text = []byte(text)
	return l
}

type give struct {
	s    *logs.Source
	line string
}

func TestLines(t *testing.T) {
	for name, c := range map[string]struct {
		o          Options
		tty, color bool
		in         []give
		want       string
	}{
		"a pipe gets the bytes":        {in: []give{{zero, "a\x1b[2J\x00\xff\rb\r"}}, want: "a\x1b[2J\x00\xff\rb\r\n"},
		"a terminal does not":          {tty: true, in: []give{{zero, "a\x1b[2J\x00\xff\u202e"}}, want: `a\x1b[2J\x00\xff\u202e` + "\n"},
		"CRLF":                         {tty: true, in: []give{{zero, "a\r"}}, want: "a\n"},
		"a progress bar":               {tty: true, o: Options{Prefix: true}, in: []give{{zero, "10%\r20%\r"}}, want: "train-0 | 10%\ntrain-0 | 20%\n"},
		"colors stay, and end":         {tty: true, color: true, in: []give{{zero, "\x1b[31mred"}}, want: "\x1b[31mred\x1b[0m\n"},
		"parts":                        {in: []give{{zero, "a~"}, {zero, "~b~"}, {zero, "~c"}, {zero, "d"}}, want: "abc\nd\n"},
		"parts with another's between": {o: Options{Prefix: true}, in: []give{{zero, "a~"}, {one, "x"}, {zero, "~b"}}, want: "train-0 | a\ntrain-1 | x\ntrain-0 | b\n"},
		"a line without an end":        {o: Options{Prefix: true}, in: []give{{zero, "a~"}, {zero, "b"}}, want: "train-0 | a\ntrain-0 | b\n"},
		"a character in two parts":     {tty: true, in: []give{{zero, "gr\xc3~"}, {zero, "~\xb6\xc3\x9fe\x1b[3~"}, {zero, "~1mx"}}, want: "größex\n"},
		"half a character at the end":  {tty: true, in: []give{{zero, "a\xe2\x82~"}, {one, "b"}}, want: `a\xe2\x82` + "\nb\n"},
		"stamps":                       {o: Options{Timestamps: true, Prefix: true}, in: []give{{zero, "a"}}, want: "train-0 | 2026-01-02T03:04:05.0000006Z a\n"},
		"JSON": {o: Options{JSON: true}, in: []give{{zero, "a\"\xff"}, {one, "b~"}, {one, "~c"}},
			want: `{"Pod":"train-0","Container":"pytorch","Role":"worker","Rank":0,"Restart":0,"Time":"2026-01-02T03:04:05.0000006Z","Message":"a\"` + "\uFFFD" + `"}
{"Pod":"train-1","Container":"pytorch","Role":null,"Rank":null,"Restart":0,"Time":"2026-01-02T03:04:05.0000006Z","Message":"b","Partial":true}
{"Pod":"train-1","Container":"pytorch","Role":null,"Rank":null,"Restart":0,"Time":"2026-01-02T03:04:05.0000006Z","Message":"c"}
`},
	} {
		t.Run(name, func(t *testing.T) {
			v, b := view(c.o, c.tty, c.color)
			for _, g := range c.in {
				if err := v.Lines(g.s, []logs.Line{part(g.line)}); err != nil {
					t.Fatal(err)
				}
			}
			if got := b.Out.String(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestPrefixHasTheColourOfItsPod(t *testing.T) {
	v, b := view(Options{Prefix: true}, true, true)
	for _, s := range []*logs.Source{zero, zero} {
		if err := v.Lines(s, []logs.Line{part("x")}); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(b.Out.String(), "\n")
	if !strings.HasPrefix(lines[0], "\x1b[") || lines[0] != lines[1] {
		t.Errorf("%q", lines)
	}
}

func TestEvents(t *testing.T) {
	pending := jobs.Status{State: jobs.Pending, Message: "no quota"}
	for name, c := range map[string]struct {
		o      Options
		events []logs.Event
		want   string
	}{
		"waiting": {Options{Job: "train"}, []logs.Event{{Kind: logs.Waiting, Status: pending}}, "waiting for job train: Pending: no quota\n"},
		"waiting for a container": {Options{}, []logs.Event{{Kind: logs.Waiting, Status: pending, Source: zero, Trouble: jobs.PodTrouble{Reason: "ImagePullBackOff", Message: "none"}}},
			"waiting for container pytorch of pod train-0: ImagePullBackOff: none\n"},
		"which pod":       {Options{AllShownBy: errs.Option("--all-pods")}, []logs.Event{{Kind: logs.Started, Source: zero}}, "note: showing the log of pod train-0 (rank 0); use --all-pods for all pods\n"},
		"its next life":   {Options{}, []logs.Event{{Kind: logs.Started, Source: zero}, {Kind: logs.Started, Source: one}}, "note: continuing with pod train-1 (pytorch)\n"},
		"many":            {Options{Several: true, Follow: true}, []logs.Event{{Kind: logs.Started, Source: zero}, {Kind: logs.Ended, Source: zero}}, "+ train-0 (pytorch)\n- train-0\n"},
		"many, once":      {Options{Several: true}, []logs.Event{{Kind: logs.Started, Source: zero}}, ""},
		"broken":          {Options{}, []logs.Event{{Kind: logs.Resuming, Source: zero, Err: errors.New("x")}}, "note: lost the connection to pod train-0; resuming\n"},
		"failed pod":      {Options{}, []logs.Event{{Kind: logs.PodFailed, Source: zero, Trouble: jobs.PodTrouble{Reason: "Error", Ended: "Error", Container: "c", ExitCode: 1}}}, "warning: pod train-0 failed: Error: container c, exit code 1\n"},
		"skipped":         {Options{}, []logs.Event{{Kind: logs.Skipped, Source: zero, Err: errors.New("no\x1b[2J")}}, `warning: no\x1b[2J` + "\n"},
		"deleted":         {Options{Job: "train"}, []logs.Event{{Kind: logs.Deleted}}, "note: job train was deleted\n"},
		"preempted":       {Options{Job: "train"}, []logs.Event{{Kind: logs.Changed, Status: jobs.Status{State: jobs.Preempted, Reason: "Preempted"}}}, "note: job train is Preempted: Preempted\n"},
		"not begun, once": {Options{Job: "train"}, []logs.Event{{Kind: logs.Waiting, Source: one}}, "note: waiting for container pytorch of pod train-1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			v, b := view(c.o, false, false)
			for _, e := range c.events {
				if err := v.Event(e); err != nil {
					t.Fatal(err)
				}
			}
			if got := b.Err.String(); got != c.want || b.Out.Len() > 0 {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		r    logs.Result
		code errs.Exit
	}{
		{logs.Result{Status: jobs.Status{State: jobs.Succeeded}}, errs.OK},
		{logs.Result{Status: jobs.Status{State: jobs.Failed}, FailedPod: "p"}, errs.No},
		{logs.Result{Deleted: true}, errs.NotFound},
	} {
		if got := errs.ExitOf(Verdict("train", c.r)); got != c.code {
			t.Errorf("%+v: exit code %d, want %d", c.r, got, c.code)
		}
	}
	failed := Verdict("train", logs.Result{Status: jobs.Status{State: jobs.Failed}, Namespace: "team", FailedPod: "p"})
	if text := errs.Text(failed, false); !strings.Contains(text, "hyperpod get-log train -n team --pod p") {
		t.Errorf("%s", text)
	}
}
