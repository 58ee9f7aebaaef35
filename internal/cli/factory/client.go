package factory

import (
	"fmt"
	"runtime"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// namePlugin names the program of a kubeconfig that will run for credentials, with --debug:
// a kubeconfig from elsewhere can name any.
func (f *Factory) namePlugin(plugin *api.ExecConfig, o kube.Options) {
	if plugin == nil || !f.Global.Debug {
		return
	}
	where := "runs when a request needs a token"
	if o.Tokens != nil && o.Tokens(plugin) != nil {
		where = "this program, in this process"
	}
	fmt.Fprintln(f.IO.Err, output.Safe(fmt.Sprintf("debug: credential plugin %s: %s", plugin.Command, where))) // its arguments may be secrets
}

func (f *Factory) clientOptions() kube.Options {
	o := kube.Options{
		UserAgent: fmt.Sprintf("hyperpod/%s (%s/%s)", f.Version, runtime.GOOS, runtime.GOARCH),
		Timeout:   f.Global.Timeout,
	}
	// A missing cache folder only costs one request per API group.
	if dir, err := config.CacheDir(f.Env); err == nil {
		o.CacheDir = dir
	}
	if f.OwnPlugin != nil {
		o.Tokens = func(plugin *api.ExecConfig) kube.TokenSource { return f.OwnPlugin(f, plugin) }
	}
	o.Warn = func(text string) { f.once("warning: " + text) }
	o.Delayed = func(d kube.Delay) { f.once("note: " + delayText(d)) }
	o.Observe = f.Observe
	if f.Global.Debug {
		o.Observe = func(r kube.Request) {
			if f.Observe != nil {
				f.Observe(r)
			}
			f.printing.Lock()
			defer f.printing.Unlock()
			line := fmt.Sprintf("debug: %s %s %d %s", r.Method, r.Path, r.Status, r.Duration.Round(time.Millisecond))
			if r.Err != nil {
				line += " " + r.Err.Error()
			}
			fmt.Fprintln(f.IO.Err, output.Safe(line))
		}
	}
	return o
}

// delayText says what a request waits for.
func delayText(d kube.Delay) string {
	switch d.Stage {
	case kube.Credentials:
		return "waiting for the credential plugin of the kubeconfig"
	case kube.Connection:
		return "waiting for a connection to the server"
	case kube.Answer:
		return "waiting for an answer from the server"
	}
	if d.Status == 0 {
		return "the connection to the server was lost: trying again"
	}
	return fmt.Sprintf("the server answered HTTP %d: trying again in %s", d.Status, d.Retry)
}
