package gettoken

import (
	"context"
	"io"
	"os"
	"os/exec"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// InProcess returns the tokens of a credential plugin that is this program with the command
// get-token, as connect-cluster writes it. It is nil for any other plugin, and for one with
// variables or flags that this command does not have: that one runs as a process.
func InProcess(f *factory.Factory, plugin *api.ExecConfig) kube.TokenSource {
	if len(plugin.Args) == 0 || plugin.Args[0] != "get-token" || len(plugin.Env) > 0 || !ours(plugin.Command) {
		return nil
	}
	var o *Options
	cmd := NewCmd(f, func(_ context.Context, parsed *Options) error { o = parsed; return nil })
	cmd.SetArgs(plugin.Args[1:])
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if cmd.Execute() != nil || o == nil {
		return nil
	}
	return func(ctx context.Context, renew bool) (string, time.Time, error) {
		token, err := o.token(ctx, renew)
		return token.Value, token.Expires, err
	}
}

// ours reports whether a command of a kubeconfig is the program that runs.
func ours(command string) bool {
	own, err := os.Executable()
	if err != nil {
		return false
	}
	found, err := exec.LookPath(command)
	if err != nil {
		return false
	}
	a, errA := os.Stat(own)
	b, errB := os.Stat(found)
	return errA == nil && errB == nil && os.SameFile(a, b)
}
