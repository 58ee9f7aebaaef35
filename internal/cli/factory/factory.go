// Package factory gives commands what they work with: stdio, settings, the
// clock and a client for the cluster that the global flags choose.
package factory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/namecache"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/present/choices"
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

// Interrupted returns the error of a command that Ctrl-C ended. why says what continues, or is "".
func Interrupted(why string) *errs.Error {
	return (&errs.Error{What: "interrupted", Why: why, Code: errs.Interrupted}).WithCause(context.Canceled)
}

// Factory is made once by Main and handed to every command.
type Factory struct {
	IO      *output.IO
	Env     func(string) string
	Now     func() time.Time
	Version string
	Global  Global
	// OwnPlugin returns the tokens of a credential plugin that is this program, nil for any
	// other plugin. They then need no process of their own.
	OwnPlugin func(*Factory, *api.ExecConfig) kube.TokenSource
	// Offline opens sandboxes and snapshots.
	Offline Offline
	// Config is loaded before a command runs.
	Config config.Config

	// Program is how the program was called if not as hyperpod: "kubectl hyperpod".
	Program string

	// Command is the command that runs, such as "sandbox create".
	Command string

	// ClockGiven reports that a flag set the time, so notes do not mention the age of a
	// snapshot.
	ClockGiven bool
	// Suggested is called with each suggestion that is printed; nil: with none.
	Suggested func(errs.Suggestion)

	// Observe is called with every request, from several goroutines; nil is none.
	Observe func(kube.Request)

	// Unhurried lets a command wait for what it leaves out where it takes too long. What it prints then does not depend on the
	// load of the machine.
	Unhurried bool

	// HoldInterrupts lets Ctrl-C do nothing until the result is called, for a program on the
	// terminal that gets it too. nil where there is no terminal.
	HoldInterrupts func() (release func())

	completions []flagCompletion

	cluster *Cluster
	slurm   slurmChoice
	// taken is the format that a file describes.
	taken struct {
		of     string
		format output.Format
		err    error
	}
	// completing reports that TAB was pressed: the run creates nothing.
	completing bool

	// printing guards stderr, and printed has the notices of requests that were printed: several goroutines send requests, and
	// each notice is printed once.
	printing sync.Mutex
	printed  sync.Map
}

// Cluster is the cluster a command works on.
type Cluster struct {
	*kube.Client
	// Context, ContextNamespace and ClusterName come from the kubeconfig; they are
	// empty for a sandbox.
	Context, ContextNamespace, ClusterName string
	// SettingsNamespace is the namespace of the settings, "" for none.
	SettingsNamespace string
	// Sandbox is the sandbox's name, or empty for a live cluster.
	Sandbox string
	// Snapshot is the snapshot that is used in place of a cluster, or nil.
	Snapshot *Snapshot
	// Now is the cluster's clock: the sandbox's may be ahead of the wall clock, a
	// snapshot's stands at the time it was taken.
	Now func() time.Time

	// Names keeps what completion reads; nil for a sandbox, a snapshot, and where it is switched off.
	Names *namecache.Cache

	// lastNamespace returns the namespace of the last command that worked, or "".
	lastNamespace func() string
}

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

// Notef prints a notice on stderr, unless --quiet.
func (f *Factory) Notef(format string, args ...any) {
	if !f.Global.Quiet {
		f.printing.Lock()
		defer f.printing.Unlock()
		for _, line := range output.WrapText(output.Safe(fmt.Sprintf(format, args...)), f.IO.ErrWidth()) {
			fmt.Fprintln(f.IO.Err, line)
		}
	}
}

// NoteCommand prints a notice that ends in a command line to paste, unless --quiet.
func (f *Factory) NoteCommand(what string, s errs.Suggestion) {
	if line := f.Line(s); !f.Global.Quiet {
		fmt.Fprint(f.IO.Err, f.IO.Lines([]errs.Line{{Head: what + " ", Text: line, Pasted: true}}))
	}
}

// Notes prints notices on stderr, unless --quiet.
func (f *Factory) Notes(notes []string) {
	for _, n := range notes {
		f.Notef("note: %s", n)
	}
}

// Format returns the output format that -o, the configuration or the terminal decides.
func (f *Factory) Format() (output.Format, error) {
	name := cmp.Or(f.Global.Output, f.Config.Output)
	if f.taken.of == name && name != "" {
		return f.taken.format, f.taken.err
	}
	return output.ParseFormat(name, f.IO.OutTTY)
}

// TakeFormat reads the file that -o names, once: it may be a pipe. Format reports its faults; the error is that of the context.
func (f *Factory) TakeFormat(ctx context.Context) error {
	name := cmp.Or(f.Global.Output, f.Config.Output)
	if !strings.Contains(name, "-file=") {
		return nil
	}
	format, err := Interruptible(ctx, f.Format)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.taken.of, f.taken.format, f.taken.err = name, format, err
	return nil
}

// NoWatch is the error about a format in which changes cannot be shown.
func NoWatch(format output.Format) error {
	return errs.Usagef("--watch cannot print %s", format.Name).WithFact("available", "table, wide, json").Suggest(errs.Option("--watch", "-o", "json"))
}

// PrintDone prints what a command that changes something did: a sentence, whatever the configuration prefers, or with
// -o name the object. With another -o it prints nothing: the document follows.
func (f *Factory) PrintDone(sentence, object string) error {
	switch f.Global.Output {
	case "":
		return f.IO.PrintLine(sentence)
	case string(output.NameFormat):
		return f.IO.PrintLine(object)
	}
	return nil
}

// checkSelector refuses an invalid --selector, with examples about
// the first label that it names.
func checkSelector(text string) error {
	_, err := labels.Parse(text)
	if err == nil {
		return nil
	}
	key := cmp.Or(labelName().FindString(text), "key")
	return errs.Usagef("invalid --selector %q: must be a label selector", text).
		Suggest(errs.Option("-l", key+"=value,other!=value"), errs.Option("-l", key+" in (a,b),!other")).WithCause(err)
}

// checkSweep refuses a --sweep that cannot be the name of one.
func checkSweep(name string) error {
	if len(validation.IsValidLabelValue(name)) > 0 {
		return Invalid("sweep", name, "must be the name of a sweep").Suggest(errs.Run("list-jobs", "-l", kinds.SweepLabel).WithNote("lists the jobs of all sweeps"))
	}
	return nil
}

// labelName finds what may be the name of a label.
var labelName = pattern.Lazy(`[A-Za-z0-9](?:[-._/A-Za-z0-9]*[A-Za-z0-9])?`)

// Cluster returns the cluster that the global flags choose, connected on first use.
func (f *Factory) Cluster(ctx context.Context) (*Cluster, error) {
	if f.cluster != nil {
		return f.cluster, nil
	}
	path, err := f.SnapshotPath()
	if err != nil {
		return nil, err
	}
	if path != "" {
		f.cluster, err = f.openSnapshot(ctx, path)
	} else if name := f.SandboxName(""); name != "" && live(f.Global) == "" {
		f.cluster, err = f.openSandbox(ctx, name)
	} else if c, wrong := f.Slurm(); c != nil || wrong != nil {
		return nil, cmp.Or(wrong, needsKubernetes(f.Command))
	} else {
		f.cluster, err = Interruptible(ctx, f.kubeconfig)
	}
	if err == nil {
		f.cluster.SettingsNamespace = f.settingsNamespace()
		f.cluster.lastNamespace = func() string { return f.lastNamespace(f.cluster) }
	}
	return f.cluster, err
}

// Connect returns the output format and the cluster of a command.
func (f *Factory) Connect(ctx context.Context) (output.Format, *Cluster, error) {
	format, err := f.Format()
	if err != nil {
		return format, nil, err
	}
	c, err := f.Cluster(ctx)
	return format, c, err
}

// Reconnect returns the cluster with a new client, from the kubeconfig as it is now. A sandbox or a snapshot of this
// process stays.
func (f *Factory) Reconnect(ctx context.Context) (*Cluster, error) {
	if c := f.cluster; c != nil && c.Snapshot == nil && c.Sandbox == "" {
		f.cluster = nil
		again, err := f.Cluster(ctx)
		if err != nil {
			f.cluster = c
		}
		return again, err
	}
	return f.Cluster(ctx)
}

func (f *Factory) kubeconfig() (*Cluster, error) {
	return f.InContext(cmp.Or(f.Global.Context, f.Config.Context))
}

// InContext returns the cluster of a context of the kubeconfig, "" for the current one.
func (f *Factory) InContext(name string) (*Cluster, error) {
	t, err := kube.Locate(kube.Location{Kubeconfig: f.Global.Kubeconfig, Context: name}, f.Env)
	if err != nil {
		return nil, err
	}
	options := f.clientOptions()
	f.namePlugin(t.Config.ExecProvider, options)
	names := f.nameCache(t)
	if !f.completing {
		options.Observe = forgetting(names, options.Observe)
	}
	c, err := kube.New(t.Config, options)
	if err != nil {
		return nil, err
	}
	return &Cluster{Client: c, Context: t.Context, ContextNamespace: t.Namespace, ClusterName: t.Cluster, Now: f.Now, Names: names}, nil
}

// Elsewhere returns the cluster of a configuration that does not come from the kubeconfig of the user.
func (f *Factory) Elsewhere(cfg *rest.Config) (*Cluster, error) {
	c, err := kube.New(cfg, f.clientOptions())
	if err != nil {
		return nil, err
	}
	return &Cluster{Client: c, Now: f.Now}, nil
}

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

// once prints a notice of a request, unless it was printed before.
func (f *Factory) once(text string) {
	if _, printed := f.printed.LoadOrStore(text, true); printed {
		return
	}
	f.Notef("%s", text)
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

// Namespace resolves the namespace for a verb on a kind and prints its notes.
func (f *Factory) Namespace(ctx context.Context, c *Cluster, verb string, r kinds.Resource) (discovery.NamespaceChoice, error) {
	return f.NamespaceNamed(ctx, c, f.Global.Namespace, verb, r)
}

// NamespaceToList is Namespace for a command that lists jobs and has -A, which the error about a missing namespace offers.
func (f *Factory) NamespaceToList(ctx context.Context, c *Cluster) (discovery.NamespaceChoice, error) {
	choice, err := f.Namespace(ctx, c, "list", kinds.PyTorchJob.Resource)
	var e *errs.Error
	if errors.As(err, &e) && errs.ExitOf(err) == errs.Usage {
		e.Suggest(errs.Option("-A").WithNote("all namespaces"))
	}
	return choice, err
}

// NamespaceNamed is Namespace with a name that wins over the context's, or "".
func (f *Factory) NamespaceNamed(ctx context.Context, c *Cluster, name, verb string, r kinds.Resource) (discovery.NamespaceChoice, error) {
	choice, err := discovery.Namespace(ctx, c.Client, discovery.NamespaceQuery{
		Flag: cmp.Or(name, f.settingsNamespace()), ContextNamespace: c.ContextNamespace, ContextName: c.Context, Verb: verb, Resource: r,
		Last: c.lastNamespace,
	})
	if err != nil {
		return choice, err
	}
	f.Notes(choices.Texts(choice.Notes))
	return choice, nil
}

var listsJobs = errs.Run("list-jobs").WithNote("shows the names")

// JobName returns the job's name given as a flag or as the only argument.
func JobName(flag string, args []string) (string, error) {
	switch {
	case slices.Contains(args, ""):
		return "", errs.Usagef("the job name is empty").Suggest(listsJobs)
	case len(args) > 1:
		return "", errs.Usagef("too many arguments: %s", strings.Join(args, ", ")).WithAdvice("run the command once for each job")
	case len(args) == 1 && flag != "" && flag != args[0]:
		return "", errs.Usagef("two different job names: %s and %s", flag, args[0]).Suggest(errs.Option("--name", flag))
	case len(args) == 1:
		return args[0], nil
	case flag == "":
		return "", errs.Usagef("a job name is required").Suggest(listsJobs)
	}
	return flag, nil
}

// AddJobNameFlag defines --job-name and --name, which are the same flag.
func AddJobNameFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "name", "", "name of the job (also --job-name, or an argument)")
	takeSpellings(cmd, map[string]string{"job-name": "name", "volume": "volumes", "persistent-volume-claim": "persistent-volume-claims"})
}

// takeSpellings gives flags of a command second spellings.
func takeSpellings(cmd *cobra.Command, names map[string]string) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, n string) pflag.NormalizedName {
		return pflag.NormalizedName(cmp.Or(names[n], n))
	})
}

// NoArgs refuses arguments where a command has none. Of a group, an argument is a command that does not exist: the words are
// cobra's, and the caller adds the commands that exist.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.HasAvailableSubCommands() && !cmd.Flags().Changed("sandbox") {
		return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	}
	if len(args) > 0 {
		e := errs.Usagef("%s takes no arguments (got %q)", cmd.Name(), args[0])
		if cmd.Flags().Changed("sandbox") {
			e.Suggest(errs.Option("--sandbox=" + args[0]).WithNote("names a sandbox"))
		}
		return e.Suggest(errs.Suggestion{Kind: errs.RunCommand, Args: append(strings.Fields(cmd.CommandPath())[1:], "--help")})
	}
	return nil
}
