// Package sandboxcmd is `hyperpod sandbox`: practice clusters on this machine.
package sandboxcmd

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// NewCmd returns the command and its children.
func NewCmd(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Practice clusters on this machine: create, list, serve, advance, delete",
		Long: `A sandbox is a practice cluster in a file on this machine, with teams, quota,
nodes and Kueue's own rules. Any command works on it with --sandbox[=NAME] or
HYPERPOD_SANDBOX=NAME; nothing leaves the machine.

Scenarios:
` + scenarioHelp(),
		Args: factory.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCreate(f), newList(f), newServe(f), newAdvance(f), newDelete(f))
	return cmd
}

func scenarioHelp() string {
	var b strings.Builder
	for _, s := range sandbox.Scenarios() {
		fmt.Fprintf(&b, "  %-12s %s\n", s.Name, s.Help)
	}
	return strings.TrimRight(b.String(), "\n")
}

func scenarioNames() []string {
	var out []string
	for _, s := range sandbox.Scenarios() {
		out = append(out, s.Name)
	}
	return out
}

// nameOf returns the only argument, or the sandbox that the flags choose.
func nameOf(f *factory.Factory, args []string) (string, error) {
	switch {
	case len(args) > 1:
		return "", errs.Usagef("one sandbox at a time: got %s", strings.Join(args, ", "))
	case len(args) == 1:
		return args[0], nil
	}
	return f.SandboxName(factory.DefaultSandbox), nil
}

func newCreate(f *factory.Factory) *cobra.Command {
	var scenario string
	cmd := &cobra.Command{
		Use:     "create NAME",
		Short:   "Make a sandbox from a scenario",
		Example: "  hyperpod sandbox create lab --scenario lend-three",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errs.Usagef("the new sandbox needs one name").WithTry("hyperpod sandbox create NAME --scenario " + factory.DefaultSandbox)
			}
			path, err := f.SandboxPath(args[0])
			if err != nil {
				return err
			}
			if _, err := sandbox.Create(cmd.Context(), path, scenario, f.SandboxOptions()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(f.IO.Out, "Created sandbox %s (%s)\n", args[0], scenario)
			return err
		},
	}
	cmd.Flags().StringVar(&scenario, "scenario", factory.DefaultSandbox, "what is in it: "+strings.Join(scenarioNames(), "|"))
	factory.Complete(cmd, "scenario", scenarioNames()...)
	return cmd
}

type sandboxDoc struct {
	Name, Scenario string
	Time           string
	File           string
}

func newList(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the sandboxes on this machine",
		Args:  factory.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			dir, err := f.SandboxDir()
			if err != nil {
				return err
			}
			boxes, err := sandbox.List(dir, f.SandboxOptions())
			if err != nil {
				return err
			}
			format, err := f.Format()
			if err != nil {
				return err
			}
			doc := struct {
				Sandboxes []sandboxDoc `json:"sandboxes"`
			}{make([]sandboxDoc, 0, len(boxes))}
			table := output.Table{Columns: []output.Column{{Title: "NAME", Keep: true}, {Title: "SCENARIO"}, {Title: "TIME"}, {Title: "FILE", Wide: true}},
				Empty: "no sandboxes on this machine (hyperpod sandbox create NAME makes one)"}
			var names []string
			for _, b := range boxes {
				at := b.Now.UTC().Format(time.RFC3339)
				if b.Err != nil {
					f.Notef("warning: %v", b.Err)
				}
				doc.Sandboxes = append(doc.Sandboxes, sandboxDoc{b.Name, b.Scenario, at, b.Path})
				table.Rows = append(table.Rows, output.T(b.Name, b.Scenario, at, b.Path))
				names = append(names, "sandbox/"+b.Name)
			}
			return output.Print(f.IO, format, doc, func() output.Table { return table }, func() []string { return names })
		},
	}
}

func newAdvance(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "advance DURATION",
		Short:   "Move a sandbox's clock: running jobs finish, waiting ones start",
		Example: "  hyperpod sandbox advance 2h --sandbox=lab",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errs.Usagef("by how much? give one duration").WithTry("hyperpod sandbox advance 2h")
			}
			d, err := time.ParseDuration(args[0])
			if err != nil || d <= 0 {
				return errs.Usagef("%q is no duration above zero", args[0]).WithTry("hyperpod sandbox advance 1h30m")
			}
			name := f.SandboxName(factory.DefaultSandbox)
			box, err := f.OpenSandbox(name)
			if err != nil {
				return err
			}
			if err := box.Advance(cmd.Context(), d); err != nil {
				return err
			}
			_, err = fmt.Fprintf(f.IO.Out, "Sandbox %s is at %s\n", name, box.Now().UTC().Format(time.RFC3339))
			return err
		},
	}
	return cmd
}

func newDelete(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a sandbox and everything in it",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errs.Usagef("which sandbox? give its name").WithTry("hyperpod sandbox list")
			}
			path, err := f.SandboxPath(args[0])
			if err != nil {
				return err
			}
			if err := sandbox.Delete(cmd.Context(), path, f.SandboxOptions()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(f.IO.Out, "Deleted sandbox %s\n", args[0])
			return err
		},
	}
	f.CompleteArgs(cmd, factory.Sandboxes)
	return cmd
}

func newServe(f *factory.Factory) *cobra.Command {
	var listen, kubeconfig string
	cmd := &cobra.Command{
		Use:   "serve [NAME]",
		Short: "Offer a sandbox to kubectl, on loopback, until Ctrl-C",
		Example: `  hyperpod sandbox serve lab --write-kubeconfig lab.kubeconfig &
  kubectl --kubeconfig lab.kubeconfig get pytorchjobs -A`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := nameOf(f, args)
			if err != nil {
				return err
			}
			if err := onLoopback(listen); err != nil {
				return err
			}
			box, err := f.OpenSandbox(name)
			if err != nil {
				return err
			}
			ln, err := net.Listen("tcp", listen)
			if err != nil {
				return errs.Wrap(err, "the sandbox cannot be served on "+listen).WithTry("--listen 127.0.0.1:0   # any free port")
			}
			url := "http://" + ln.Addr().String()
			if kubeconfig == "" {
				dir, err := f.SandboxDir()
				if err != nil {
					return err
				}
				kubeconfig = filepath.Join(dir, name+".kubeconfig")
			}
			if err := os.WriteFile(kubeconfig, kubeconfigFor(name, url), 0o600); err != nil {
				ln.Close()
				return errs.Wrap(err, "the kubeconfig cannot be written")
			}
			if _, err := fmt.Fprintf(f.IO.Out, "Serving sandbox %s at %s\nexport KUBECONFIG=%s\n", name, url, kubeconfig); err != nil {
				return err
			}
			if err := f.IO.Flush(); err != nil {
				return err
			}
			return box.Serve(cmd.Context(), ln)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "loopback address and port")
	cmd.Flags().StringVar(&kubeconfig, "write-kubeconfig", "", "where to write a kubeconfig for it (default: beside the sandbox)")
	f.CompleteArgs(cmd, factory.Sandboxes)
	return cmd
}

// onLoopback refuses any address that other machines could reach: a sandbox has
// no authentication.
func onLoopback(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return errs.Usagef("%q is no address", listen).WithTry("--listen 127.0.0.1:8001")
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return errs.Usagef("a sandbox is served on loopback only, not on %s", host).WithTry("--listen 127.0.0.1:8001")
	}
	return nil
}

// kubeconfigFor returns a kubeconfig for a served sandbox.
func kubeconfigFor(name, url string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: sandbox-%[1]s
clusters:
- name: sandbox-%[1]s
  cluster: {server: %[2]q}
contexts:
- name: sandbox-%[1]s
  context: {cluster: sandbox-%[1]s, user: sandbox}
users:
- name: sandbox
  user: {}
`, name, url)
}
