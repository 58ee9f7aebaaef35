package sandboxcmd

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/offline"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/loopback"
)

type serveOptions struct {
	factory    *factory.Factory
	name       string
	listen     string
	kubeconfig string
}

func newServe(f *factory.Factory) *cobra.Command {
	o := &serveOptions{factory: f}
	cmd := &cobra.Command{
		Use:   "serve [NAME]",
		Short: "Serve a sandbox to kubectl on loopback until Ctrl-C",
		Long: `Serve a sandbox to kubectl and other clients on loopback until Ctrl-C. Each
start creates a token and writes it to a kubeconfig file. Only clients with the
token get answers. The file is removed at the end.`,
		Example: `  hyperpod sandbox serve lab --write-kubeconfig lab.kubeconfig &
  kubectl --kubeconfig lab.kubeconfig get pytorchjobs -A`,
		RunE: factory.RunE(o, takeName(&o.name, func() string { return f.SandboxName(factory.DefaultSandbox) }, nil), runServe, nil),
	}
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "loopback address and port")
	cmd.Flags().StringVar(&o.kubeconfig, "write-kubeconfig", "", "new file for the kubeconfig (default: next to the sandbox's file)")
	factory.TakesFile(cmd.Flags(), "write-kubeconfig")
	f.CompleteFirstArg(cmd, factory.Sandboxes)
	return cmd
}

// Validate refuses addresses that other machines can reach: a sandbox is for this
// machine.
func (o *serveOptions) Validate() error {
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return errs.Usagef("invalid --listen %q: must be an address and a port", o.listen).Suggest(errs.Option("--listen", "127.0.0.1:8001"))
	}
	if !loopback.Is(host) {
		return errs.Usagef("invalid --listen %q: must be a loopback address", o.listen).Suggest(errs.Option("--listen", "127.0.0.1:8001"))
	}
	return nil
}

func runServe(ctx context.Context, o *serveOptions) (err error) {
	f := o.factory
	box, err := offline.OpenSandbox(ctx, f, o.name)
	if err != nil {
		return err
	}
	file := kubeconfigFile{path: o.kubeconfig}
	if file.path == "" {
		dir, err := f.SandboxDir()
		if err != nil {
			return err
		}
		file = kubeconfigFile{path: filepath.Join(dir, o.name+".kubeconfig"), own: true}
	}
	ln, err := net.Listen("tcp", o.listen)
	if err != nil {
		return errs.Wrap(err, "cannot listen on "+o.listen).Suggest(errs.Option("--listen", "127.0.0.1:0").WithNote("any free port"))
	}
	defer ln.Close()
	cert, authority, err := certificate(time.Now()) // clients check it by the machine's clock
	if err != nil {
		return errs.Wrap(err, "cannot make a certificate for the sandbox")
	}
	url, token := "https://"+ln.Addr().String(), rand.Text()
	if err := file.write(o.name, url, token, authority); err != nil {
		return err
	}
	defer file.remove()
	if _, err := fmt.Fprintf(f.IO.Out, "Serving sandbox %s at %s\nexport KUBECONFIG=%s\n", o.name, url, file.path); err != nil {
		return err
	}
	if err := f.IO.Flush(); err != nil {
		return err
	}
	return box.Serve(ctx, ln, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, token)
}
