package startjob

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/interrupt"
	"github.com/hyperpod-cli/hyperpod/internal/cli/notifyflags"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// admission is the dry run that the admission check answers.
const admission = "admission"

// Submission holds the flags about what happens to the finished job. Fields have the names of their flags.
type Submission struct {
	DryRun         string
	Assume         time.Duration // --assume-duration
	AllHolders     bool          // --all-holders
	Workers        admissioncheck.Workers
	Replace        bool
	Edit           bool
	Wait           string
	Follow         bool
	Timeout        *time.Duration // of all waiting together
	IdempotencyKey string
	Yes            bool
	Notify         notifyflags.Flags
	OnInterrupt    interrupt.Policy
}

// Title implements factory.OptionGroup.
func (*Submission) Title() string { return "Submission" }

// AddFlags implements factory.OptionGroup.
func (s *Submission) AddFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	s.DryRun = factory.DryRunNone
	factory.AddChoice(cmd, &s.DryRun, factory.Choice{Name: "dry-run", Bare: admission,
		Words: []string{factory.DryRunNone, admission, factory.DryRunClient, factory.DryRunServer},
		Usage: "create nothing: admission (report whether the job would run; the default without a value)|client (print the manifest)|server (validate on the API server)|none"})
	factory.AddAssumeFlag(cmd, &s.Assume)
	admissioncheck.AddAllHoldersFlag(cmd, &s.AllHolders)
	s.Workers.AddFlag(cmd)
	fs.BoolVar(&s.Replace, "replace", false, "delete an existing job of this name first, and update other objects that differ")
	fs.BoolVar(&s.Edit, "edit", false, "edit the finished manifest in $VISUAL or $EDITOR before it is submitted")
	waits := []string{string(wait.Admitted), string(wait.Running), string(wait.Succeeded), string(wait.Finished)}
	factory.AddChoice(cmd, &s.Wait, factory.Choice{Name: "wait", Words: waits, Bare: string(wait.Running),
		Usage: "wait until the job is " + strings.Join(waits, "|")})
	fs.BoolVar(&s.Follow, "follow", false, "wait until the job runs, then print its log until it ends (exit code 3 if the job fails)")
	factory.OptionalDuration(fs, &s.Timeout, "timeout", "maximum time to wait, for example 2h (exit code 124); 0 checks once (default: no limit)")
	fs.StringVar(&s.IdempotencyKey, "idempotency-key", "", "find the job of an earlier start with the same name and key instead of creating another")
	s.Notify.Add(cmd)
	s.OnInterrupt.Add(cmd, "during --wait or --follow")
	fs.BoolVarP(&s.Yes, "yes", "y", false, "do not prompt before the job preempts others, or if it can never run")
}

// Validate implements factory.OptionGroup.
func (s *Submission) Validate() error {
	if err := factory.CheckAssume(s.Assume); err != nil {
		return err
	}
	if err := s.Workers.Validate(); err != nil {
		return err
	}
	if err := factory.CheckTimeout(s.Timeout); err != nil {
		return err
	}
	if err := s.Notify.Validate(); err != nil {
		return err
	}
	switch {
	case s.Notify.Given() && s.Wait == "" && !s.Follow:
		return errs.Usagef("--notify, --notify-exec and --notify-url require --wait or --follow").Suggest(errs.Option("--wait", "--notify"))
	case s.AllHolders && s.DryRun != admission:
		return factory.Requires("all-holders", "--dry-run").Suggest(errs.Option("--dry-run", "--all-holders"))
	case len(s.Workers.Given) > 0 && s.DryRun != admission:
		return factory.Requires("workers", "--dry-run").Suggest(errs.Option("--dry-run", "--workers"))
	case s.Assume > 0 && s.DryRun != admission:
		return factory.Requires("assume-duration", "--dry-run").Suggest(errs.Option("--dry-run", "--assume-duration", words.Exact(s.Assume)))
	case s.OnInterrupt == interrupt.Cancel && s.Wait == "" && !s.Follow:
		return factory.Requires(interrupt.Flag, "--wait or --follow").Suggest(errs.Option("--wait", "--"+interrupt.Flag, string(interrupt.Cancel)))
	case (s.Wait != "" || s.Follow) && s.DryRun != factory.DryRunNone:
		return errs.Usagef("--wait and --follow cannot be used with --dry-run: a dry run starts no job").Suggest(errs.Option("--dry-run=" + s.DryRun))
	}
	return nil
}
