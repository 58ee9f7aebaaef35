package startjob

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/offline"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// --follow waits until the job runs, hands over to the log, and ends with the
// job's verdict.
func TestFollow(t *testing.T) {
	home := t.TempDir()
	env := func(key string) string {
		return map[string]string{"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home, "HYPERPOD_SANDBOX": "1"}[key]
	}
	start := func(name string, log logFollower) (stdout, stderr string, err error) {
		streams, buffers := output.Test()
		f := &factory.Factory{IO: streams, Env: env, Now: time.Now, Global: factory.Global{Namespace: "hyperpod-ns-researchers"}}
		offline.Use(f)
		cmd := NewCmd(f, func(ctx context.Context, o *Options) error {
			return (&run{options: o, factory: f, follow: log, patience: patience}).start(ctx)
		})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs([]string{name, "--template", "smpv2-llama2", "--node-count", "1", "--follow"})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		err = cmd.ExecuteContext(ctx)
		return buffers.Out.String(), buffers.Err.String(), err
	}
	gone := errs.NotFoundf("job one was deleted while it was followed")
	deleted := func(ctx context.Context, f *factory.Factory, c *factory.Cluster, kind kinds.Job, namespace, name string) error {
		f.IO.Out.Write([]byte("log of " + name + "\n"))
		if err := c.Delete(ctx, kind.Resource, namespace, name, kube.DeleteOptions{Propagation: "Background"}); err != nil {
			return err
		}
		return gone
	}
	out, notes, err := start("one", deleted)
	if out != "Successfully created job one\nlog of one\n" || !strings.Contains(notes, "one is Running") || errs.ExitOf(err) != errs.NotFound {
		t.Errorf("%v: %q, %q", err, out, notes)
	}
	broken := errors.New("no log")
	if _, _, err := start("two", func(context.Context, *factory.Factory, *factory.Cluster, kinds.Job, string, string) error {
		return broken
	}); err != broken {
		t.Errorf("got %v", err)
	}
}

func TestResumeNote(t *testing.T) {
	for namespace, want := range map[string]bool{"kubeflow": false, "hyperpod-ns-a": false, "default": true} {
		if got := resumeNote(true, namespace) != ""; got != want {
			t.Errorf("%s: %v", namespace, got)
		}
	}
	if resumeNote(false, "default") != "" {
		t.Error("nobody asked")
	}
}
