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
		{[]string{"--name", "x", "--script-args", "--lr 0.1 'a b'", "--auto-resume"}, `start-job --name x --script-args ... --auto-resume`},
		{[]string{"--name", "x", "--entry-script", "it's", "--set", "token=secret", "--annotation", "a=secret", "--label", "b=secret", "--pre-script", "export T=secret",
			"--post-script", "curl -H secret", "--command", "secret=1 run", "--environment-from-secret", "T=s:k"},
			`start-job --name x --entry-script 'it'\''s' --set token=... --annotation a=... --label b=... --pre-script ... --post-script ... --command ... --environment-from-secret T=...`},
		{[]string{"--name", "x", "--recipe", "r.yaml", "--override-parameters", `{"token":"secret"}`, "--image", "i"}, `start-job --name x --recipe r.yaml --override-parameters ... --image i`},
		{[]string{"--name", "x", "--wait", "--timeout", "5s"}, "start-job --name x --wait --timeout 5s"},
		{[]string{"--name", "x", "--wait=finished"}, "start-job --name x --wait=finished"},
		{[]string{"--name", "x", "--dry-run"}, "start-job --name x"},
		{[]string{"--name", "x", "--auto-resume=false", "--follow"}, "start-job --name x --auto-resume=false --follow"},
	} {
		streams, _ := output.Test()
		f := &factory.Factory{IO: streams, Env: func(string) string { return "" }}
		var got string
		cmd := NewCmd(f, func(_ context.Context, o *Options) error { got = o.CommandLine; return nil })
		cmd.SetArgs(tt.args)
		if err := cmd.ExecuteContext(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
