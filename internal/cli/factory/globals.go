package factory

import (
	"cmp"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Global holds the flags that every command understands.
type Global struct {
	Namespace  string
	Output     string
	Context    string
	Kubeconfig string
	Sandbox    string
	Snapshot   string
	// Scheduler is config.Kubernetes or config.Slurm; empty lets the settings decide.
	Scheduler string
	// MaxAge is the age from which a snapshot is refused; 0 is none.
	MaxAge  time.Duration
	Timeout time.Duration
	Color   string
	Quiet   bool
	Debug   bool
	// ErrorFormat is how errors are printed: text or json.
	ErrorFormat string
	// OutputVersion is the version of the documents; there is one.
	OutputVersion string
}

// The values of --error-format.
const (
	ErrorText = "text"
	ErrorJSON = "json"
)

// outputVersions returns the versions of the documents that this program prints, the newest last.
func outputVersions() []string { return []string{"v1"} }

// AddGlobalFlags defines the global flags on the root command.
func (f *Factory) AddGlobalFlags(fs *pflag.FlagSet) {
	g := &f.Global
	fs.StringVarP(&g.Namespace, "namespace", "n", "", "namespace to use (default: that of the context, else your only team namespace)")
	fs.StringVarP(&g.Output, "output", "o", "", "output format, for example json, yaml or table")
	fs.StringVar(&g.Context, "context", "", "kubeconfig context to use")
	fs.StringVar(&g.Kubeconfig, "kubeconfig", "", "kubeconfig file (default: $KUBECONFIG, else ~/.kube/config)")
	TakesFile(fs, "kubeconfig")
	fs.StringVar(&g.Sandbox, "sandbox", "", "use a sandbox on this machine, by name (--sandbox alone: "+DefaultSandbox+")")
	fs.Lookup("sandbox").NoOptDefVal = DefaultSandbox
	fs.StringVar(&g.Snapshot, "snapshot", "", "use a snapshot of a cluster, read-only: a file from save-snapshot or kubectl get -o yaml")
	TakesFile(fs, "snapshot")
	fs.Var(&choice{Choice{Name: "scheduler", Words: []string{config.Kubernetes, config.Slurm}}, &g.Scheduler}, "scheduler", "what runs jobs: kubernetes|slurm (default: kubernetes, or slurm on a node of a Slurm cluster without a kubeconfig)")
	fs.DurationVar(&g.MaxAge, "max-age", 0, "refuse a snapshot that is older, for example 1h (exit code 1)")
	fs.DurationVar(&g.Timeout, "request-timeout", 0, "maximum time for a single request (0: no limit)")
	fs.StringVar(&g.Color, "color", "auto", "when to use color: auto|always|never")
	fs.BoolVarP(&g.Quiet, "quiet", "q", false, "suppress notices and progress on stderr")
	g.ErrorFormat = cmp.Or(g.ErrorFormat, ErrorText)
	fs.Var(&choice{Choice{Name: "error-format", Words: []string{ErrorText, ErrorJSON}}, &g.ErrorFormat}, "error-format", "how to print errors on stderr: text|json (one line for each error)")
	g.OutputVersion = outputVersions()[0]
	fs.Var(&choice{Choice{Name: "output-version", Words: outputVersions()}, &g.OutputVersion}, "output-version", "version of the JSON documents; the command fails if it no longer prints this version")
	fs.BoolVar(&g.Debug, "debug", false, "print the causes of errors, and every request with its duration")
}

// WantsJSON reports -o json or jsonl.
func (f *Factory) WantsJSON() bool {
	return slices.Contains([]output.Name{output.JSON, output.JSONLines}, output.Name(f.Global.Output))
}
