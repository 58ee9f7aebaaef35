package startjob

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/offline"
	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// A start on a terminal prompts before it preempts, and before it submits what can never run.
func TestConfirmation(t *testing.T) {
	const preempts = "big --template smpv2-llama2 --node-count 3 --priority inference"
	const never = "huge --template smpv2-llama2 --node-count 80"
	asksPreempt, asksNever := "This preempts vit-huge of researchers (16 nvidia.com/gpu on 2 nodes, running for 5h12m). Continue? [y/N] ",
		"huge can never run: 640 nvidia.com/gpu is more than the most researchers can ever hold (32). Submit it anyway? [y/N] "
	for _, c := range []struct {
		name, args, answer, confirm string
		pipe                        bool
		asks                        string
		created                     bool
		decides                     int // jobs of a sweep that are decided in time, 0 for all
	}{
		{name: "yes", args: preempts, answer: "y\n", asks: asksPreempt, created: true},
		{name: "no", args: preempts, answer: "n\n", asks: asksPreempt},
		{name: "only enter", args: preempts, answer: "\n", asks: asksPreempt},
		{name: "end of input", args: preempts, asks: asksPreempt},
		{name: "never runs", args: never, answer: "n\n", asks: asksNever},
		{name: "never runs, quietly", args: never + " --quiet", answer: "n\n", asks: asksNever},
		{name: "--yes", args: preempts + " --yes", created: true},
		{name: "a pipe", args: preempts, pipe: true, created: true},
		{name: "confirm never", args: preempts, confirm: config.ConfirmNever, created: true},
		{name: "confirm preempt", args: preempts, confirm: config.ConfirmPreempt, answer: "n\n", asks: asksPreempt},
		{name: "confirm preempt of a job that never runs", args: never, confirm: config.ConfirmPreempt, created: true},
		{name: "a job that runs", args: "runs --template smpv2-llama2 --node-count 1", created: true},
		{name: "a sweep that preempts", args: preempts + " --sweep seed=1..2", answer: "n\n", asks: "This preempts 1 job: vit-huge of researchers. Continue? [y/N] "},
		{name: "a sweep that preempts, agreed", args: preempts + " --sweep seed=1..2", answer: "y\n", asks: "This preempts 1 job: vit-huge of researchers. Continue? [y/N] ", created: true},
		{name: "a sweep without time for all jobs", args: preempts + " --sweep seed=1..90", answer: "n\n", decides: 1, asks: "This preempts at least 1 job: vit-huge of researchers. Continue? [y/N] "},
		{name: "a sweep that never runs", args: never + " --sweep seed=1..90", answer: "n\n", decides: 1, asks: "1 job of the sweep can never run"},
		{name: "a sweep in a pipe", args: preempts + " --sweep seed=1..2", pipe: true, created: true},
		{name: "a name in use", args: "vit-huge --template smpv2-llama2 --node-count 3 --priority inference"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			env := func(key string) string {
				return map[string]string{"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home, "HYPERPOD_SANDBOX": "1"}[key]
			}
			streams, buffers := output.Test()
			streams.InTTY, streams.ErrTTY = !c.pipe, !c.pipe
			buffers.In.WriteString(c.answer)
			args := strings.Fields(c.args)
			f := &factory.Factory{IO: streams, Env: env, Now: time.Now, Global: factory.Global{Namespace: "hyperpod-ns-researchers"}, Config: config.Config{Confirm: c.confirm}}
			offline.Use(f)
			if i := len(args) - 1; args[i] == "--quiet" {
				f.Global.Quiet, args = true, args[:i]
			}
			cmd := NewCmd(f, func(ctx context.Context, o *Options) error {
				decided := 1
				return (&run{options: o, factory: f, patience: patience, judging: func(context.Context) bool { decided++; return c.decides == 0 || decided <= c.decides }}).start(ctx)
			})
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetArgs(args)
			err := cmd.ExecuteContext(t.Context())
			_, asked, found := strings.Cut(buffers.Err.String(), "(embedded)\n")
			if !found {
				asked = buffers.Err.String()
			}
			if asks := strings.Contains(asked, "[y/N]"); asks != (c.asks != "") || !strings.Contains(asked, c.asks) {
				t.Errorf("asked %q, want %q", asked, c.asks)
			}
			if created := strings.HasPrefix(buffers.Out.String(), "Successfully created job "); created != c.created || c.created != (err == nil) || err != nil && errs.ExitOf(err) != errs.Failure {
				t.Errorf("created: %v, %v, %q", created, err, asked)
			}
		})
	}
}

// What an upload needs is examined before a question: a claim that does not exist fails the start.
func TestUploadIsExaminedFirst(t *testing.T) {
	home := t.TempDir()
	env := func(key string) string {
		return map[string]string{"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home, "HYPERPOD_SANDBOX": "1"}[key]
	}
	streams, buffers := output.Test()
	streams.InTTY, streams.ErrTTY = true, true
	buffers.In.WriteString("y\n")
	f := &factory.Factory{IO: streams, Env: env, Now: time.Now, Global: factory.Global{Namespace: "hyperpod-ns-researchers"}}
	offline.Use(f)
	code := t.TempDir()
	if err := os.WriteFile(filepath.Join(code, "t.py"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := NewCmd(f, nil)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"j", "--template", "smpv2-llama2", "--upload", code, "--upload-pvc", "nowhere"})
	err := cmd.ExecuteContext(t.Context())
	if errs.ExitOf(err) != errs.NotFound || strings.Contains(buffers.Err.String(), "[y/N]") || buffers.Out.Len() > 0 {
		t.Errorf("%v: %q, %q", err, buffers.Out, buffers.Err)
	}
}

// A check that does not get its answer in time does not delay or fail the start.
func TestCheckWithoutAnswer(t *testing.T) {
	home := t.TempDir()
	env := func(key string) string {
		return map[string]string{"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home, "HYPERPOD_SANDBOX": "1"}[key]
	}
	streams, buffers := output.Test()
	f := &factory.Factory{IO: streams, Env: env, Now: time.Now, Global: factory.Global{Namespace: "hyperpod-ns-researchers"}}
	offline.Use(f)
	cmd := NewCmd(f, func(ctx context.Context, o *Options) error {
		return (&run{options: o, factory: f, patience: time.Nanosecond}).start(ctx)
	})
	cmd.SetArgs([]string{"j", "--template", "smpv2-llama2"})
	err := cmd.ExecuteContext(t.Context())
	if out, notices := buffers.Out.String(), buffers.Err.String(); err != nil || out != "Successfully created job j\n" || strings.Count(notices, "cannot tell whether the job runs now: the cluster did not answer within") != 1 {
		t.Errorf("%v: %q, %q", err, out, notices)
	}
}

// A start says on what it depends whether the job runs, where quota of others is hidden. It says nothing about an answer without a condition.
func TestSayUnknown(t *testing.T) {
	streams, buffers := output.Test()
	r := &run{factory: &factory.Factory{IO: streams}}
	v := &check.Verdict{Verdict: check.Unknown, Summary: "would start now only if other teams lend 4 nvidia.com/gpu"}
	r.say(v)
	v.Quota.Unseen = &check.Unseen{Condition: &check.Condition{}}
	r.say(v)
	if got, want := buffers.Err.String(), "unknown: "+v.Summary+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
