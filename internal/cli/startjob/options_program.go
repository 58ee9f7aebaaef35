package startjob

import (
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Words of the flags that the API server or the operators check.
const (
	pullPolicies     = "Always|IfNotPresent|Never"
	restartPolicies  = "Always|OnFailure|Never|ExitCode"
	cleanPodPolicies = "All|Running|None"
	rdzvBackends     = "c10d|etcd-v2|etcd|static"
)

// defaultUploadTo is where the pods find what --upload brings.
const defaultUploadTo = "/code"

// Program holds the flags about the program that the pods run. Fields have the names of their flags.
type Program struct {
	Image, PullPolicy                string
	Command, EntryScript, ScriptArgs string
	Environment                      []string
	EnvFile                          []string
	Upload, UploadTo, UploadPVC      string
	SecretEnv                        []string // --environment-from-secret
	PreScript, PostScript            []string
	ResultsDir                       string
	RdzvBackend, RdzvEndpoint        string
}

// Title implements factory.OptionGroup.
func (*Program) Title() string { return "Program" }

// AddFlags implements factory.OptionGroup.
func (p *Program) AddFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&p.Image, "image", "", "container image")
	fs.StringVar(&p.PullPolicy, "pull-policy", "", "image pull policy: "+pullPolicies)
	fs.StringVar(&p.Command, "command", "", "program that starts the script (default torchrun)")
	fs.StringVar(&p.EntryScript, "entry-script", "", "path of the training script in the image")
	factory.TakesFile(fs, "entry-script")
	fs.StringVar(&p.ScriptArgs, "script-args", "", "arguments of the script, quoted as for a shell")
	fs.StringArrayVar(&p.Environment, "environment", nil, "environment variable K=V (repeatable), or a JSON object")
	fs.StringArrayVar(&p.EnvFile, "env-file", nil, "file of environment variables, K=V on each line (repeatable); --environment overrides it")
	factory.TakesFile(fs, "env-file")
	fs.StringArrayVar(&p.SecretEnv, "environment-from-secret", nil, "environment variable from a Secret: NAME=SECRET:KEY, or SECRET for all its keys (repeatable)")
	fs.StringArrayVar(&p.PreScript, "pre-script", nil, "shell command to run before the program (repeatable)")
	fs.StringArrayVar(&p.PostScript, "post-script", nil, "shell command to run after the program (repeatable)")
	fs.StringVar(&p.Upload, "upload", "", "folder to mount in the pods, read-only, up to 900Ki; files in .gitignore are left out")
	factory.TakesFile(fs, "upload")
	fs.StringVar(&p.UploadPVC, "upload-pvc", "", "PersistentVolumeClaim that receives the folder of --upload, for up to 10Gi; a small job copies it")
	fs.StringVar(&p.UploadTo, "upload-to", defaultUploadTo, "folder of the pods for --upload; containers start there unless the manifest sets a working directory")
	fs.StringVar(&p.ResultsDir, "results-dir", "", "directory in the pods for checkpoints and results")
	fs.StringVar(&p.RdzvBackend, "rdzv-backend", "", "rendezvous backend: "+rdzvBackends+" (default: c10d, or static on Trainium)")
	fs.StringVar(&p.RdzvEndpoint, "rdzv-endpoint", "", "rendezvous endpoint, HOST:PORT (default: the first pod)")
}

// Validate implements factory.OptionGroup.
func (p *Program) Validate() error {
	switch {
	case p.UploadTo != defaultUploadTo && p.Upload == "":
		return factory.Requires("upload-to", "--upload").Suggest(errs.Option("--upload", ".", "--upload-to", p.UploadTo))
	case p.UploadPVC != "" && p.Upload == "":
		return factory.Requires("upload-pvc", "--upload").Suggest(errs.Option("--upload", ".", "--upload-pvc", p.UploadPVC))
	case p.Upload != "" && (!path.IsAbs(p.UploadTo) || path.Clean(p.UploadTo) == "/" || strings.Contains(p.UploadTo, ":")):
		return factory.Invalid("upload-to", p.UploadTo, "must be an absolute path without a colon").Suggest(errs.Option("--upload-to", defaultUploadTo))
	}
	return nil
}

// defines returns a given flag that says which program runs, empty if there is none.
func (p *Program) defines() string {
	for _, c := range [][2]string{{"image", p.Image}, {"entry-script", p.EntryScript}, {"command", p.Command}} {
		if c[1] != "" {
			return c[0]
		}
	}
	return ""
}

func (p *Program) set(v *values.Values) (err error) {
	v.Image, v.PullPolicy = p.Image, p.PullPolicy
	v.Command, v.EntryScript = p.Command, p.EntryScript
	v.PreScript, v.PostScript = p.PreScript, p.PostScript
	v.ResultsDir = p.ResultsDir
	v.Rendezvous = values.Rendezvous{Backend: p.RdzvBackend, Endpoint: p.RdzvEndpoint}
	if v.ScriptArgs, err = shellwords.Split(p.ScriptArgs); err != nil {
		return err
	}
	if v.Environment, err = values.ParseEnvironment(p.Environment); err != nil {
		return err
	}
	for _, text := range p.SecretEnv {
		e, err := values.ParseSecretEnv(text)
		if err != nil {
			return err
		}
		v.SecretEnv = append(v.SecretEnv, e)
	}
	return nil
}
