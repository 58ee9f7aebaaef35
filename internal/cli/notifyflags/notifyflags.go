// Package notifyflags holds the flags for notifications at the end of a wait.
package notifyflags

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/notify"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// Flags are --notify, --notify-exec and --notify-url.
type Flags struct {
	Terminal bool
	Command  string
	URL      string
}

// Add defines the flags.
func (n *Flags) Add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&n.Terminal, "notify", false, "ring the terminal at the end of the wait, and show a notification where it supports them (OSC 9)")
	fs.StringVar(&n.Command, "notify-exec", "", "program to run at the end of the wait, with a JSON document on stdin and HYPERPOD_JOB_TEXT in its environment")
	factory.TakesFile(fs, "notify-exec")
	fs.StringVar(&n.URL, "notify-url", "", "`URL` that gets the JSON document by POST at the end of the wait")
}

// Given reports whether any flag is set.
func (n *Flags) Given() bool { return n.Terminal || n.Command != "" || n.URL != "" }

// Validate checks the flags alone.
func (n *Flags) Validate() error {
	if n.URL != "" {
		if err := notify.CheckURL(n.URL); err != nil {
			return errs.Usagef("invalid --notify-url: %v", err).Suggest(errs.Option("--notify-url", "https://hooks.example.com/NAME"))
		}
	}
	if n.Command != "" {
		if argv, err := shellwords.Split(n.Command); err != nil || len(argv) == 0 {
			return errs.Usagef("invalid --notify-exec: must be a program and its arguments, quoted as for a shell").Suggest(errs.Option("--notify-exec", "notify-send hyperpod"))
		}
	}
	return nil
}

// Ended sends the notifications at the end of a wait. Failures are warnings: the exit code is that of the wait.
func (n *Flags) Ended(ctx context.Context, f *factory.Factory, r wait.Request, last wait.Progress, err error) {
	if !n.Given() || ctx.Err() != nil {
		return
	}
	d := notify.Document{Schema: notify.Schema, Job: r.Name, Namespace: r.Namespace, Kind: r.Kind.Kind, State: string(last.Status.State),
		Reason: jobtext.Why(last.Status), Goal: string(r.Goal), Reached: err == nil, Time: f.Now().UTC()}
	d.Text = fmt.Sprintf("job %s in %s is %s", r.Name, r.Namespace, last.Status.State)
	if r.Goal == wait.Deleted && err == nil {
		d.State, d.Text = "Deleted", fmt.Sprintf("job %s in %s is deleted", r.Name, r.Namespace)
	}
	if err != nil {
		d.Text = fmt.Sprintf("%v (namespace %s)", err, r.Namespace)
	}
	n.tell(ctx, f, d)
}

// AllEnded tells about the end of a wait for several jobs.
func (n *Flags) AllEnded(ctx context.Context, f *factory.Factory, all []wait.Ended, goal wait.Goal, err error) {
	if !n.Given() || ctx.Err() != nil {
		return
	}
	d := notify.Document{Schema: notify.Schema, Goal: string(goal), Reached: err == nil, Time: f.Now().UTC(), Text: jobtext.StatesOfAll(all, goal)}
	if err != nil {
		d.Text = err.Error()
	}
	n.tell(ctx, f, d)
}

// tell sends a notification in each way that the flags ask for.
func (n *Flags) tell(ctx context.Context, f *factory.Factory, d notify.Document) {
	if n.Terminal {
		if f.IO.ErrTTY {
			fmt.Fprint(f.IO.Err, notify.Terminal(d.Text))
		} else {
			f.Notef("note: --notify has no effect: stderr is not a terminal")
		}
	}
	if n.Command != "" {
		if argv, err := shellwords.Split(n.Command); err == nil {
			if err := notify.Run(ctx, argv, d); err != nil {
				f.Notef("warning: --notify-exec failed: %v", err)
			}
		}
	}
	if n.URL != "" {
		if err := notify.Post(ctx, n.URL, d, "hyperpod/"+f.Version); err != nil {
			f.Notef("warning: --notify-url failed: %v", err)
		}
	}
}
