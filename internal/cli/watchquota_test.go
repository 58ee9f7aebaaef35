package cli

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/getquota"
	"github.com/hyperpod-cli/hyperpod/internal/cli/offline"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestWatchQuota: get-quota --watch: each change is a line, in JSON and as a table in a pipe, until
// Ctrl-C.
func TestWatchQuota(t *testing.T) {
	home := t.TempDir()
	user := func(out io.Writer) *factory.Factory {
		s, _ := output.Test()
		s.Out = out
		f := &factory.Factory{IO: s, Now: time.Now, Global: factory.Global{Sandbox: "john-smith", Quiet: true, Namespace: "hyperpod-ns-john"},
			Env: func(name string) string {
				if strings.HasPrefix(name, "XDG_") || name == "HOME" {
					return home
				}
				return ""
			}}
		offline.Use(f)
		return f
	}
	maker, err := user(io.Discard).Cluster(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string][2]string{
		"json":  {`{"Type":"ADDED","Team":"john",`, `{"Type":"MODIFIED","Team":"john",`},
		"table": {"john ", "john "},
	} {
		t.Run(format, func(t *testing.T) {
			r, w := io.Pipe()
			f := user(w)
			f.Global.Output = format
			tick := make(chan time.Time)
			o := &getquota.Options{Factory: f, By: "team", Watch: true, Tick: tick}
			if err := o.Validate(); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- getquota.Run(ctx, o); w.Close() }()
			lines := make(chan string)
			go func() {
				for s := bufio.NewScanner(r); s.Scan(); {
					lines <- s.Text()
				}
				close(lines)
			}()
			// next ticks until a line comes that starts so.
			next := func(start string) string {
				t.Helper()
				for {
					select {
					case tick <- time.Time{}:
					case l, ok := <-lines:
						if !ok {
							t.Fatalf("it ended with %v", <-ended)
						}
						if strings.HasPrefix(l, start) {
							return l
						}
					}
				}
			}
			before := next(want[0])
			job := map[string]any{"apiVersion": "batch/v1", "kind": "Job",
				"metadata": map[string]any{"name": "train-" + format, "labels": map[string]any{kinds.QueueLabel: "hyperpod-ns-john-localqueue"}},
				"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{
					"name": "main", "image": "example.com/i:1", "resources": map[string]any{"limits": map[string]any{"nvidia.com/gpu": 4}}}}}}}}
			batch, _ := kinds.JobFor("batch/v1", "Job")
			if err := maker.Create(t.Context(), batch.Resource, "hyperpod-ns-john", job, kube.CreateOptions{}, nil); err != nil {
				t.Fatal(err)
			}
			if after := next(want[1]); after == before {
				t.Errorf("nothing has changed in %s", after)
			}
			go func() {
				for range lines { // what else is written while it ends
				}
			}()
			stop()
			if err := <-ended; err == nil {
				t.Error("it ended without an error although it was interrupted")
			}
		})
	}
}

// drawings counts how often a table was drawn on a terminal.
type drawings struct{ n atomic.Int64 }

func (d *drawings) Write(p []byte) (int, error) {
	d.n.Add(int64(strings.Count(string(p), "\x1b[?7l")))
	return len(p), nil
}

// TestWatchQuotaRedraws: a terminal is drawn again although nothing changes, as what was
// drawn is lost when it is resized.
func TestWatchQuotaRedraws(t *testing.T) {
	home := t.TempDir()
	screen := &drawings{}
	s, _ := output.Test()
	s.Out, s.OutTTY, s.Cursor, s.Width, s.Height = screen, true, true, 80, 24
	f := &factory.Factory{IO: s, Now: time.Now, Global: factory.Global{Sandbox: "john-smith", Quiet: true, Output: "table"}, Env: func(name string) string {
		if strings.HasPrefix(name, "XDG_") || name == "HOME" {
			return home
		}
		return ""
	}}
	offline.Use(f)
	tick := make(chan time.Time)
	o := &getquota.Options{Factory: f, By: "team", Watch: true, Tick: tick}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- getquota.Run(ctx, o) }()
	for i := 0; screen.n.Load() < 4 && i < 100; i++ {
		select {
		case tick <- time.Time{}:
		case err := <-ended:
			t.Fatal(err)
		}
	}
	stop()
	<-ended
	if screen.n.Load() < 4 {
		t.Errorf("drawn %d times in 100 ticks", screen.n.Load())
	}
}
