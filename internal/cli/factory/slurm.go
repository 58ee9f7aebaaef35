package factory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// slurmChoice is whether the command works on Slurm, once it is decided.
type slurmChoice struct {
	decided bool
	client  *client.Client
	err     error
}

// Slurm returns the Slurm cluster of this machine if the command works on it, nil if it
// works on Kubernetes. --scheduler decides, then the setting. Without both, Slurm is used
// where its commands and its configuration are here and nothing names a Kubernetes cluster.
func (f *Factory) Slurm() (*client.Client, error) {
	if !f.slurm.decided {
		f.slurm.decided = true
		f.slurm.client, f.slurm.err = f.chooseSlurm()
	}
	return f.slurm.client, f.slurm.err
}

// OnScheduler runs a command on what runs jobs: the Slurm cluster of this machine if the command works on it, else
// Kubernetes.
func OnScheduler[O any](ctx context.Context, f *Factory, o O, slurm func(context.Context, O, *client.Client) error, kubernetes func(context.Context, O) error) error {
	c, err := f.Slurm()
	switch {
	case err != nil:
		return err
	case c != nil:
		return slurm(ctx, o, c)
	}
	return kubernetes(ctx, o)
}

// SlurmInstead reports whether a command on clusters of AWS works on the Slurm cluster of this
// machine: --scheduler or the setting chooses Slurm, or nothing names a Kubernetes cluster and
// other reports that nothing names one of AWS.
func (f *Factory) SlurmInstead(other bool) bool {
	if f.Global.Scheduler == config.Slurm || f.named() == "" && cmp.Or(f.Global.Scheduler, f.Config.Scheduler) == config.Slurm {
		return true
	}
	if !other {
		return false
	}
	c, err := f.Slurm()
	return err == nil && c != nil
}

func (f *Factory) chooseSlurm() (*client.Client, error) {
	file := f.named()
	scheduler := f.Global.Scheduler
	if file != "" && scheduler == config.Slurm {
		if g := f.Global; g.Snapshot == "" && g.Sandbox == "" && live(g) == "" {
			variable := map[string]string{"--snapshot": snapshotEnv, "--sandbox": sandboxEnv}[file]
			return nil, errs.Usagef("--scheduler cannot be used with %s", variable).WithAdvice("unset " + variable)
		}
		return nil, Excludes("scheduler", strings.TrimPrefix(file, "--")).WithAdvice("remove one of them")
	}
	if file == "" {
		scheduler = cmp.Or(scheduler, f.Config.Scheduler)
	}
	missing := client.Missing()
	switch {
	case scheduler == config.Slurm && missing != "":
		return nil, errs.NotFoundf("cannot use Slurm: %s is not on the PATH", missing).
			WithAdvice("run the command on the head or a login node of the Slurm cluster").
			Suggest(errs.Run("start-session", "--cluster-name", "NAME", "--group", "GROUP").WithNote("signs in to a node"))
	case scheduler == config.Slurm:
	case file != "" || scheduler != "" || missing != "" || !client.Configured(f.Env) || !f.withoutKubernetes():
		return nil, nil
	default:
		f.Notef("note: no kubeconfig: using the Slurm cluster of this machine")
	}
	c := &client.Client{Environ: os.Environ(), Timeout: f.Global.Timeout}
	if f.Global.Debug {
		c.Observe = func(argv []string, took time.Duration, err error) {
			line := fmt.Sprintf("debug: %s %s", words.ShellWords(argv), took.Round(time.Millisecond))
			if err != nil {
				line += " " + err.Error()
			}
			fmt.Fprintln(f.IO.Err, output.Safe(line))
		}
	}
	return c, nil
}

// named returns the flag that names a cluster, a sandbox or a snapshot, "" for none.
func (f *Factory) named() string {
	switch path, _ := f.SnapshotPath(); {
	case path != "":
		return "--snapshot"
	case f.SandboxName("") != "":
		return "--sandbox"
	}
	return live(f.Global)
}

// withoutKubernetes reports whether no kubeconfig and no pod names a cluster.
func (f *Factory) withoutKubernetes() bool {
	_, err := kube.Locate(kube.Location{Context: f.Config.Context}, f.Env)
	return errors.Is(err, kube.ErrNoCluster)
}

// needsKubernetes returns the error of a command that Slurm cannot answer.
func needsKubernetes(command string) error {
	e := errs.Usagef("%s needs a Kubernetes cluster, and this command works on Slurm", cmp.Or(command, "the command"))
	switch command {
	case "get-queue":
		e.Suggest(errs.Run("list-jobs", "--state", "pending").WithNote("shows the jobs that wait"))
	case "list-pods":
		e.Suggest(errs.Run("get-job", "NAME").WithNote("shows the nodes of a job"))
	case "get-quota", "governance audit", "governance plan", "governance apply", "governance export":
		e.WithAdvice("Slurm's limits are those of its accounts and QOS: sacctmgr show assoc, sacctmgr show qos")
	case "patch-job":
		e.WithAdvice("scontrol hold, release and update change a job of Slurm")
	case "exec", "port-forward":
		e.WithAdvice("srun --jobid ID --overlap --pty bash opens a shell on the nodes of a job")
	case "copy-file":
		e.WithAdvice("nodes of a Slurm cluster share their file system: use cp")
	}
	return e.Suggest(OnKubernetes(), errs.Option("--sandbox").WithNote("uses a practice cluster on this machine"))
}

// NoLabelsOnSlurm refuses --selector and --kind of a command on a Slurm cluster.
func NoLabelsOnSlurm(selector, kind string) error {
	switch {
	case selector != "":
		return NotOnSlurm("selector").WithAdvice("jobs of Slurm have no labels")
	case kind != "":
		return NotOnSlurm("kind").WithAdvice("leave --kind out")
	}
	return nil
}

// OnKubernetes suggests the flag by which a command uses Kubernetes instead of Slurm.
func OnKubernetes() errs.Suggestion {
	return errs.Option("--scheduler", config.Kubernetes).WithNote("uses the cluster of the kubeconfig")
}

// NotOnSlurm returns the usage error about a flag that Slurm has nothing for.
func NotOnSlurm(flag string) *errs.Error {
	return errs.Usagef("--%s cannot be used on Slurm", flag)
}

// slurmWords returns the words that can name a job of Slurm: ids, and names that need no quotes.
func slurmWords(ctx context.Context, c *client.Client, err error) (out []string, _ error) {
	if err != nil {
		return nil, err
	}
	list, err := c.Jobs(ctx)
	for _, j := range list {
		if out = append(out, j.ID); words.ShellWord(j.Name) == j.Name {
			out = append(out, j.Name)
		}
	}
	return out, err
}

// slurmPartitions returns the partitions of the cluster.
func slurmPartitions(ctx context.Context, c *client.Client, err error) (out []string, _ error) {
	if err != nil {
		return nil, err
	}
	nodes, err := c.Nodes(ctx)
	for _, n := range nodes {
		out = append(out, n.Partitions...)
	}
	return out, err
}
