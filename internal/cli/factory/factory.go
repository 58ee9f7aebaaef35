// Package factory gives commands what they work with: stdio, settings, the
// clock and a client for the cluster that the global flags choose.
package factory

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

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
