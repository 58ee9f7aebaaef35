package startjob

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// scriptFlags are the flags that can override lines of a script.
var scriptFlags = []string{"config-file", "name", "queue-name", "priority", "node-count", "active-deadline", "dry-run", "wait", "follow", "timeout", "notify", "notify-exec",
	"notify-url", "on-interrupt", "yes"}

// beyondScript returns the given flags that cannot override lines of a script.
func beyondScript(cmd *cobra.Command) (out []string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(scriptFlags, f.Name) && f.Name != "output" && cmd.InheritedFlags().Lookup(f.Name) == nil {
			out = append(out, f.Name)
		}
	})
	slices.Sort(out)
	return out
}

// nameInScript is the line of a script that names the job.
var nameInScript = pattern.Lazy(`(?m)^#SBATCH[ \t]+(?:--job-name(?:=|[ \t]+)|-J[ \t]*)["']?([^\s"']+)`)

// startScript submits a script of the user as it is. Flags are options of sbatch, which
// override the script.
func (s *slurmRun) startScript(ctx context.Context) error {
	o, f := s.options, s.factory
	if len(o.BeyondScript) > 0 {
		return errs.Usagef("--%s cannot be used with a script of Slurm", strings.Join(o.BeyondScript, ", --")).WithAdvice("write it into the script").
			Suggest(factory.OnKubernetes())
	}
	data, err := f.ReadNamed(ctx, o.File)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(data, []byte("#!")) {
		return errs.Usagef("%s is not a script: Slurm requires #! at its start", o.File).
			Suggest(errs.Run("start-job", "--scheduler", "slurm", "--name", "NAME", "--command", "COMMAND").WithNote("makes a script"), factory.OnKubernetes())
	}
	if s.given, err = s.overrides(); err != nil {
		return err
	}
	s.text = string(data)
	s.script = slurm.Script{Name: o.jobName(), Partition: o.Queue, Account: f.Global.Namespace, QOS: o.Priority}
	if named := nameInScript().FindSubmatch(data); s.script.Name == "" && named != nil {
		s.script.Name = string(named[1])
	}
	s.script.Name = cmp.Or(s.script.Name, baseName(o.File))
	switch o.DryRun {
	case factory.DryRunClient:
		if len(s.given) > 0 {
			f.Notef("note: sbatch gets %s, which override the script", words.ShellWords(s.given))
		}
		_, err := io.WriteString(f.IO.Out, s.text)
		return err
	case admission, factory.DryRunServer:
		return s.test(ctx)
	}
	return s.submit(ctx)
}

// overrides returns the flags as options of sbatch.
func (s *slurmRun) overrides() (out []string, err error) {
	o := s.options
	v, err := o.values()
	if err != nil {
		return nil, err
	}
	for _, option := range []struct {
		name, value string
	}{{"job-name", o.jobName()}, {"partition", o.Queue}, {"account", s.factory.Global.Namespace}, {"qos", o.Priority}} {
		if option.value != "" {
			out = append(out, "--"+option.name+"="+option.value)
		}
	}
	if v.NodeCount != nil {
		out = append(out, fmt.Sprintf("--nodes=%d", *v.NodeCount))
	}
	if v.RunPolicy.Deadline != nil {
		out = append(out, fmt.Sprintf("--time=%d", slurm.Minutes(*v.RunPolicy.Deadline)))
	}
	return out, nil
}
