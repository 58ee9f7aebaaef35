package startjob

import (
	"context"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

func TestCommandLine(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"bert", "--image", "i:1", "--node-count", "2"}, "start-job bert --image i:1 --node-count 2"},
		{[]string{"--name", "x", "--environment", "HF_TOKEN=secret", "--environment", `{"A":"secret"}`}, "start-job --name x --environment HF_TOKEN=... --environment ..."},
		{[]string{"--name", "x", "--script-args", "--lr 0.1 'a b'", "--auto-resume"}, `start-job --name x --script-args '--lr 0.1 '\''a b'\''' --auto-resume=true`},
	} {
		streams, _ := output.Test()
		f := &factory.Factory{IO: streams, Env: func(string) string { return "" }}
		var got string
		cmd := NewCmd(f, func(_ context.Context, o *Options) error { got = o.command; return nil })
		cmd.SetArgs(tt.args)
		if err := cmd.ExecuteContext(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
