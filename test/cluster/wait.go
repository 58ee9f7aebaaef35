package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// waitTimeout bounds waits whose context has no deadline.
const waitTimeout = 60 * time.Second

// WaitFor polls check until it returns nil. It gives up when ctx does (after a minute if ctx has no
// deadline) or a process of the bed dies; the error then holds what check said last.
func (b *Bed) WaitFor(ctx context.Context, what string, check func(ctx context.Context) error) error {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, waitTimeout, fmt.Errorf("not within %s", waitTimeout))
		defer cancel()
	}
	return b.poll(ctx, what, check)
}

func (b *Bed) poll(ctx context.Context, what string, check func(ctx context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := check(attempt)
		cancel()
		if err == nil {
			return nil
		}
		if dead := b.Check(); dead != nil {
			return fmt.Errorf("waiting for %s: %w", what, dead)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; last seen: %w", what, context.Cause(ctx), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// WaitForPods waits until exactly n pods of the namespace that match the label selector are in phase.
func (b *Bed) WaitForPods(ctx context.Context, namespace, selector, phase string, n int) error {
	path := "/api/v1/namespaces/" + namespace + "/pods?labelSelector=" + url.QueryEscape(selector)
	return b.WaitFor(ctx, fmt.Sprintf("%d pods %s in %s", n, phase, namespace), func(ctx context.Context) error {
		var list struct {
			Items []struct {
				Metadata struct{ Name string }
				Status   struct{ Phase string }
			}
		}
		if err := b.Get(ctx, path, &list); err != nil {
			return err
		}
		found, seen := 0, make([]string, 0, len(list.Items))
		for _, pod := range list.Items {
			if pod.Status.Phase == phase {
				found++
			}
			seen = append(seen, pod.Metadata.Name+" "+pod.Status.Phase)
		}
		if found != n {
			return fmt.Errorf("%d of %d pods: %s", found, len(seen), strings.Join(seen, ", "))
		}
		return nil
	})
}

// WaitForCondition waits until the object at path has a condition of that type and status ("True" or "False").
func (b *Bed) WaitForCondition(ctx context.Context, path, condition, status string) error {
	return b.WaitFor(ctx, condition+"="+status+" on "+path, func(ctx context.Context) error {
		var object struct {
			Status struct {
				Conditions []struct{ Type, Status, Reason, Message string }
			}
		}
		if err := b.Get(ctx, path, &object); err != nil {
			return err
		}
		for _, c := range object.Status.Conditions {
			if c.Type == condition && c.Status == status {
				return nil
			}
		}
		return fmt.Errorf("conditions are %v", object.Status.Conditions)
	})
}

// WaitForGone waits until there is no object at path.
func (b *Bed) WaitForGone(ctx context.Context, path string) error {
	return b.WaitFor(ctx, path+" to be gone", func(ctx context.Context) error {
		err := b.Get(ctx, path, nil)
		if NotFound(err) {
			return nil
		}
		if err == nil {
			err = errors.New("it is still there")
		}
		return err
	})
}

// Kubectl runs the bed's kubectl as cluster administrator and returns its standard output.
// The error carries what it wrote to standard error.
func (b *Bed) Kubectl(ctx context.Context, args ...string) (string, error) {
	return b.kubectl(ctx, b.Kubeconfig, nil, args...)
}

// KubectlAs runs kubectl with another kubeconfig, for example a member's, and optional standard input.
func (b *Bed) KubectlAs(ctx context.Context, kubeconfig string, stdin []byte, args ...string) (string, error) {
	return b.kubectl(ctx, kubeconfig, stdin, args...)
}

func (b *Bed) kubectl(ctx context.Context, kubeconfig string, stdin []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, b.KubectlPath, args...)
	// The cache is keyed by host and port, and ports come round again: another bed's answers must not be found.
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "KUBECACHEDIR="+filepath.Join(b.dir, "kubectl-cache"))
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	out, err := output(cmd)
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
