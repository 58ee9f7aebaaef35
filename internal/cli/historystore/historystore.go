// Package historystore finds the recorded history of a cluster and observes it, for the commands that write and read
// histories.
package historystore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/history/observe"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// DefaultProjectLabel is the label of a job that names its project.
const DefaultProjectLabel = "project"

// AddProjectLabel defines --project-label, with [DefaultProjectLabel] as its default, and its completion.
func AddProjectLabel(f *factory.Factory, cmd *cobra.Command, value *string, usage string) {
	*value = DefaultProjectLabel
	f.CompleteFlag(cmd, "project-label", factory.JobLabels)
	factory.AddText(cmd.Flags(), value, factory.Text{Name: "project-label", Usage: usage, Must: "must be the key of a label, for example project",
		Fits: func(key string) bool { return len(validation.IsQualifiedName(key)) == 0 }})
}

// Dir returns the folder of a cluster's store: given, or one of this machine that is named after the cluster.
func Dir(f *factory.Factory, c *factory.Cluster, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	dir, err := config.StateDir(f.Env)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "history", folder(Cluster(c))), nil
}

// Forget deletes the store of a sandbox: a new sandbox of its name has other jobs.
func Forget(f *factory.Factory, sandbox string) error {
	dir, err := config.StateDir(f.Env)
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, "history", folder(ofSandbox(sandbox)))
	if err := os.RemoveAll(dir); err != nil {
		return errs.New("cannot delete the history of sandbox "+sandbox, errs.FileReason(err)).WithFact("folder", dir).WithCause(err)
	}
	return nil
}

func ofSandbox(name string) string { return "sandbox " + name }

// Cluster names a cluster in its store.
func Cluster(c *factory.Cluster) string {
	if c.Sandbox != "" {
		return ofSandbox(c.Sandbox)
	}
	return c.Server()
}

// folder makes a name for a folder. Where characters at the ends do not fit, a hash keeps it apart from others.
func folder(cluster string) string {
	whole := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, strings.TrimSuffix(strings.TrimPrefix(cluster, "https://"), "/"))
	name := strings.Trim(whole, "-.")
	if name == whole {
		return name
	}
	sum := sha256.Sum256([]byte(cluster))
	return strings.TrimPrefix(name+"-"+hex.EncodeToString(sum[:4]), "-")
}

// Teams returns the names of the teams in a history.
func Teams(d *history.Data) (names []string) {
	for _, j := range d.Jobs {
		names = append(names, j.Team)
	}
	for _, q := range d.Queues {
		names = append(names, q.Key.Team)
	}
	return names
}

// Observe reads a cluster, or one namespace of it. Without permission for all namespaces it reads the one of -n, or those
// that it finds, or the one that a command about one namespace would use. withEvents also reads what conditions no longer
// tell, after a time without samples.
func Observe(ctx context.Context, f *factory.Factory, c *factory.Cluster, namespace, projectLabel string, withEvents bool) (history.Observation, *state.State, error) {
	served, err := discovery.ServedJobs(ctx, c.Client)
	if err != nil {
		return history.Observation{}, nil, err
	}
	st, err := state.Load(ctx, c.Client, state.Want{Namespace: namespace, Jobs: served, Workloads: true, PodSets: true, ClusterQueues: true, LocalQueues: true, Cohorts: true, Flavors: true, Nodes: true,
		FallbackNamespaces: func(ctx context.Context) ([]string, error) { return readable(ctx, f, c) },
		FallbackQueues:     findteam.Scope{Namespace: f.Global.Namespace}.FallbackQueues(c)}, c.Now())
	if err != nil {
		return history.Observation{}, nil, err
	}
	if err := factory.Failures(st.Missing); err != nil {
		return history.Observation{}, nil, err
	}
	var events []state.Event
	if withEvents {
		// Without permission, runs before a preemption may be missing.
		if events, err = state.ListEvents(ctx, c.Client, namespace, kube.ListOptions{}); err != nil && !kube.IsForbidden(err) && !kube.IsNotServed(err) {
			return history.Observation{}, nil, err
		}
	}
	return observe.Of(st, events, projectLabel), st, nil
}

// readable returns the namespaces to read without permission for all of them.
func readable(ctx context.Context, f *factory.Factory, c *factory.Cluster) ([]string, error) {
	if ns := f.Global.Namespace; ns != "" {
		return []string{ns}, nil
	}
	names, err := discovery.AccessibleNamespaces(ctx, c.Client, "list", kinds.PyTorchJob.Resource)
	if len(names) > 0 || err != nil && !kube.IsForbidden(err) {
		return names, err
	}
	one, err := f.Namespace(ctx, c, "list", kinds.PyTorchJob.Resource)
	return []string{one.Name}, err
}

// Explain turns an error of a store into one for people.
func Explain(err error, doing, dir string) error {
	if err == nil {
		return nil
	}
	var newer *history.NewerError
	var other *history.OtherClusterError
	e := errs.New(doing, errs.FileReason(err)).WithFact("store", dir).WithCause(err)
	switch {
	case errors.As(err, &newer):
		return e.WithFact("file", newer.Path).WithAdvice("use the version of hyperpod that wrote the store, or a newer one")
	case errors.As(err, &other):
		return e.WithAdvice("choose another folder with --directory")
	case errors.Is(err, history.ErrLocked):
		return e.WithAdvice("stop the other recorder, or choose another folder with --directory")
	}
	return e
}

// ExplainRead is Explain for a store that is read. A missing one has exit code NotFound.
func ExplainRead(err error, doing, dir string) error {
	e := Explain(err, doing, dir)
	if found := new(errs.Error); errors.Is(err, fs.ErrNotExist) && errors.As(e, &found) {
		return found.WithCode(errs.NotFound)
	}
	return e
}

// Gap reports whether the samples before a time are too long ago for conditions alone to tell what happened since.
func Gap(last, now time.Time, pace time.Duration) bool {
	return last.IsZero() || now.Sub(last) > time.Duration(history.Slack*float64(pace))
}
