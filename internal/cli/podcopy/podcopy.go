// Package podcopy is a copy between this machine and a pod, for commands: its connection,
// its progress line and its end.
package podcopy

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podend"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podflags"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/transfer"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Copy is a copy from or to a container.
type Copy struct {
	Factory *factory.Factory
	Cluster *factory.Cluster
	Target  podflags.Target
	Moved   transfer.Progress
}

// Pod returns the side of the pod.
func (c *Copy) Pod(ctx context.Context) transfer.Pod {
	return transfer.Pod{
		Run: func(ctx context.Context, command []string, in io.Reader, out, errw io.Writer) (int, error) {
			return c.Cluster.Exec(ctx, kube.ExecOptions{Namespace: c.Target.Job.Namespace, Pod: c.Target.Pod.Name, Container: c.Target.Container,
				Command: command, Stdin: in, Stdout: out, Stderr: errw})
		},
		Lost: func(err error) bool {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return true
			}
			return kube.LostConnection(err) && !c.End().Over(context.WithoutCancel(ctx), c.Cluster)
		},
		After: time.After,
		Resuming: func(error) {
			c.Factory.Notef("warning: the connection to pod %s is lost; resuming after %s", c.Target.Pod.Name, Size(c.Moved.Done()))
		},
	}
}

// Reason returns why a file of a folder cannot be read, with its name.
func Reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) && path.Path != "." {
		return path.Path + ": " + path.Err.Error()
	}
	return errs.FileReason(err)
}

// End returns the pod, to find out why it ended.
func (c *Copy) End() podend.Pod {
	return podend.Pod{Job: c.Target.Job, Name: c.Target.Pod.Name, UID: c.Target.Pod.UID}
}

// Size writes a number of bytes.
func Size(n int64) string {
	if n < 1<<10 {
		return words.Count(int(n), "byte", "bytes")
	}
	return words.Number("memory", float64(n))
}
