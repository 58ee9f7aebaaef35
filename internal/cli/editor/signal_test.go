//go:build unix

package editor

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestCtrlC: after each round there is one handler of Ctrl-C, the last round's,
// and it goes with the command.
func TestCtrlC(t *testing.T) {
	s, _ := output.Test()
	f := &factory.Factory{IO: s, Env: func(name string) string { return map[string]string{"EDITOR": "true"}[name] }}
	for name, end := range map[string]func(cancel func()){
		"Ctrl-C":          func(func()) { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) },
		"the command end": func(cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			file, err := Create("edit-*.yaml")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(file.Remove)
			parent, cancel := context.WithCancel(t.Context())
			defer cancel()
			ctx := parent
			var rounds []context.Context
			for range 3 {
				var saved []byte
				if saved, ctx, err = file.Edit(ctx, f, []byte("text")); err != nil || string(saved) != "text" {
					t.Fatalf("%q, %v", saved, err)
				}
				rounds = append(rounds, ctx)
			}
			if rounds[0].Err() == nil || rounds[1].Err() == nil || ctx.Err() != nil {
				t.Errorf("the rounds' contexts: %v, %v, %v", rounds[0].Err(), rounds[1].Err(), ctx.Err())
			}
			end(cancel)
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Minute):
				t.Error("the context did not end")
			}
		})
	}
}
