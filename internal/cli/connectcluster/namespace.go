package connectcluster

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/choices"
)

// namespace chooses the namespace of the context, see signIn.
func (o *Options) namespace(parent context.Context, c *factory.Cluster, e clusters.Endpoint) (name string, refused, err error) {
	f := o.Factory
	ctx, cancel := context.WithTimeout(parent, patience)
	defer cancel()
	choice, err := discovery.Namespace(ctx, c.Client, discovery.NamespaceQuery{Flag: f.Global.Namespace, Verb: "create", Resource: kinds.PyTorchJob.Resource})
	given := f.Global.Namespace
	switch {
	case err == nil:
		f.Notes(choices.Texts(choice.Notes))
		return choice.Name, nil, nil
	case parent.Err() != nil:
		return "", nil, err
	case kube.IsUnauthorized(err):
		return given, err, nil
	case given != "" && errs.ExitOf(err) == errs.NotFound:
		return "", nil, err
	case !kube.NoAnswer(err) && ctx.Err() == nil:
		if given == "" {
			f.Notef("note: the context has no namespace: %s", reason(err))
		}
		return given, nil, nil
	}
	f.Notef("warning: the entry is not verified: %s", reason(err))
	if !e.PublicAccess {
		f.Notef("note: the endpoint of EKS cluster %s is private: connect to its VPC first", e.Name)
	}
	return given, nil, nil
}

// reason returns why something failed, with what there is to choose from.
func reason(err error) string {
	var own *errs.Error
	if !errors.As(err, &own) {
		return err.Error()
	}
	why := own.Error()
	if own.Why != "" {
		why = own.Why
	}
	for _, fact := range own.Facts {
		if fact.Label == "available" {
			why += " (" + fact.Text + ")"
		}
	}
	return why
}

// program returns how other programs call this one: by its name if that is found on the PATH,
// else by its path.
func program() string {
	const name = "hyperpod"
	own, err := os.Executable()
	if err != nil {
		return name
	}
	if found, err := exec.LookPath(name); err == nil && same(found, own) {
		return name
	}
	return own
}

// same reports whether two paths lead to the same file.
func same(a, b string) bool {
	x, errX := filepath.EvalSymlinks(a)
	y, errY := filepath.EvalSymlinks(b)
	return errX == nil && errY == nil && strings.EqualFold(filepath.Clean(x), filepath.Clean(y))
}

// checkCurrent warns when another file of KUBECONFIG decides about the current context.
func (o *Options) checkCurrent(want string) {
	f := o.Factory
	t, err := kube.Locate(kube.Location{Kubeconfig: f.Global.Kubeconfig}, f.Env)
	if err == nil && t.Context != want {
		f.Notef("warning: another file of KUBECONFIG sets the current context %s", t.Context)
	}
}
