// Package client runs Slurm's own commands, which are its interface: with argument vectors
// and never a shell, with a limit of time and of output.
package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
)

// Limits of one command.
const (
	mostOutput = 256 << 20 // about 400,000 jobs
	mostErrors = 64 << 10
	// patience is longer than Slurm's own MessageTimeout, which is 10 s unless it is set.
	patience = 2 * time.Minute
)

// Client runs the commands.
type Client struct {
	// Environ are the variables of the process.
	Environ []string
	// Timeout is the longest time of one command, 0 for the default.
	Timeout time.Duration
	// Observe is called after each command, unless it is nil.
	Observe func(argv []string, took time.Duration, err error)
}

// Commands are the commands of a head or login node.
var Commands = []string{"sinfo", "squeue", "sbatch", "scancel", "scontrol"}

// Missing returns the first command that is not on the PATH, "" if all are.
func Missing() string {
	for _, name := range Commands {
		if _, err := exec.LookPath(name); err != nil {
			return name
		}
	}
	return ""
}

// configured are the places of slurm.conf: Debian's, HyperPod's, that of a build without
// options, and of nodes that get it from the controller.
var configured = []string{"/etc/slurm/slurm.conf", "/opt/slurm/etc/slurm.conf", "/usr/local/etc/slurm.conf", "/run/slurm/conf/slurm.conf"}

// Configured reports whether this machine belongs to a Slurm cluster: its commands alone
// may come with a package.
func Configured(env func(string) string) bool {
	files := configured
	if file := env("SLURM_CONF"); file != "" {
		files = []string{file}
	}
	return slices.ContainsFunc(files, func(file string) bool {
		_, err := os.Stat(file)
		return err == nil
	})
}

// environment returns what the commands see. Times are numbers, texts are English, and the
// user's own formats and filters of the lists do not count.
func (c *Client) environment() []string {
	var out []string
	for _, v := range c.Environ {
		drop := false
		for _, prefix := range []string{"SQUEUE_", "SINFO_", "SACCT_", "SCONTROL_", "SLURM_TIME_FORMAT=", "SLURM_CLUSTERS=", "LC_ALL="} {
			drop = drop || strings.HasPrefix(v, prefix)
		}
		if !drop {
			out = append(out, v)
		}
	}
	return append(out, "SLURM_TIME_FORMAT=%s", "LC_ALL=C.UTF-8")
}

// run runs a command and returns what it printed on stdout and stderr.
func (c *Client) run(ctx context.Context, stdin string, name string, args ...string) (out, messages string, err error) {
	limit := c.Timeout
	if limit <= 0 {
		limit = patience
	}
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.WaitDelay = c.environment(), 2*time.Second
	stdout, stderr := bounded.NewHead(mostOutput), bounded.NewHead(mostErrors)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	begun := time.Now()
	err = cmd.Run()
	if err == nil && stdout.Over() {
		err = io.ErrShortBuffer
	}
	if c.Observe != nil {
		c.Observe(append([]string{name}, args...), time.Since(begun), err)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		err = failure(name, stderr.String(), limit, err)
	}
	return stdout.String(), stderr.String(), err
}

// separator returns a word that no text of a user contains.
func separator() string { return "<" + strings.ToLower(rand.Text()[:16]) + ">" }

// Jobs lists jobs: those of the ids, else all that the controller remembers, which keeps
// finished ones for some minutes (MinJobAge).
func (c *Client) Jobs(ctx context.Context, ids ...string) ([]slurm.Job, error) {
	sep := separator()
	args := []string{"--noheader", "--all", "--states=all", "--Format=" + slurm.QueueFormat(sep)}
	if len(ids) > 0 {
		args = append(args, "--jobs="+strings.Join(ids, ","))
	}
	out, _, err := c.run(ctx, "", "squeue", args...)
	if err != nil {
		return nil, err
	}
	list, err := slurm.ParseQueue(out, sep)
	if err != nil {
		return nil, &Error{Command: "squeue", Code: Unreadable, Message: err.Error()}
	}
	return list, nil
}

// History lists jobs that ended before, from the accounting database: those of the ids,
// else of the last days. ok is false where the cluster has none.
func (c *Client) History(ctx context.Context, since time.Time, ids ...string) (list []slurm.Job, ok bool, err error) {
	if _, err := exec.LookPath("sacct"); err != nil {
		return nil, false, nil
	}
	sep := separator()
	args := []string{"--allocations", "--noheader", "--parsable2", "--allusers", "--delimiter=" + sep, "--format=" + slurm.HistoryFormat()}
	if len(ids) > 0 {
		args = append(args, "--jobs="+strings.Join(ids, ","))
	} else {
		args = append(args, "--starttime="+since.Format("2006-01-02T15:04:05"))
	}
	out, _, err := c.run(ctx, "", "sacct", args...)
	var e *Error
	if errors.As(err, &e) && e.Code == NoAccounting {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	list, err = slurm.ParseHistory(out, sep)
	if err != nil {
		return nil, true, &Error{Command: "sacct", Code: Unreadable, Message: err.Error()}
	}
	return list, true, nil
}

// Details returns what only scontrol knows of a job.
func (c *Client) Details(ctx context.Context, id string) (slurm.Details, error) {
	out, _, err := c.run(ctx, "", "scontrol", "show", "job", id)
	return slurm.ParseDetails(out), err
}

// Nodes lists the nodes.
func (c *Client) Nodes(ctx context.Context) ([]slurm.Node, error) {
	sep := separator()
	out, _, err := c.run(ctx, "", "sinfo", "--noheader", "--all", "--Node", "--Format="+slurm.NodeFormat(sep))
	if err != nil {
		return nil, err
	}
	list, err := slurm.ParseNodes(out, sep)
	if err != nil {
		return nil, &Error{Command: "sinfo", Code: Unreadable, Message: err.Error()}
	}
	return list, nil
}

// Submit submits a script and returns the id of the job.
func (c *Client) Submit(ctx context.Context, script string, options ...string) (string, error) {
	out, messages, err := c.run(ctx, script, "sbatch", append([]string{"--parsable"}, options...)...)
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // ";" and a cluster follow in a federation
	if !slurm.IsID(id) {
		return "", &Error{Command: "sbatch", Code: Unreadable, Message: fmt.Sprintf("no job id in %q", out+messages)}
	}
	return id, nil
}

// Test asks when a script would start; it submits nothing.
func (c *Client) Test(ctx context.Context, script string, options ...string) (slurm.Estimate, error) {
	_, messages, err := c.run(ctx, script, "sbatch", append([]string{"--test-only"}, options...)...)
	if err != nil {
		return slurm.Estimate{}, err
	}
	e, ok := slurm.ParseEstimate(messages)
	if !ok {
		return e, &Error{Command: "sbatch", Code: Unreadable, Message: messages}
	}
	return e, nil
}

// Cancel cancels a job.
func (c *Client) Cancel(ctx context.Context, id string) error {
	_, _, err := c.run(ctx, "", "scancel", id)
	return err
}

// Recover lets HyperPod's agent reboot or replace a node.
func (c *Client) Recover(ctx context.Context, node string, action slurm.Action) error {
	_, _, err := c.run(ctx, "", "scontrol", "update", "nodename="+node, "state=fail", "reason="+string(action))
	return err
}

// HasContainers reports whether srun has the option of Pyxis for containers.
func (c *Client) HasContainers(ctx context.Context) bool {
	out, _, err := c.run(ctx, "", "srun", "--help")
	return err == nil && strings.Contains(out, "--container-image")
}

// BatchScript returns the script of a job that its user may read.
func (c *Client) BatchScript(ctx context.Context, id string) (string, error) {
	out, _, err := c.run(ctx, "", "scontrol", "write", "batch_script", id, "-")
	return out, err
}
