package inputs

import (
	"cmp"
	"context"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// The Deployment of Kueue's controller, and the label that names its version.
const (
	managerDeployment = "kueue-controller-manager"
	versionLabel      = "app.kubernetes.io/version"
)

// manager reads Kueue's configuration and version. Members of a team may seldom read either; neither counts as
// missing; see Manager.State.
func (l *loader) manager(ctx context.Context) {
	m, err := state.GetManagerConfig(ctx, l.c)
	switch {
	case err == nil:
		l.r.Done()
		l.out.Manager.Data = m.Text
		if l.out.Manager.Data == "" {
			l.out.Manager.State = ManagerEmpty
		}
	case kube.IsNotInFile(err):
		l.out.Manager.State = ManagerNotInFile
	case kube.IsForbidden(err):
		l.out.Manager.State = ManagerForbidden
	case kube.IsNotFound(err):
		l.out.Manager.State = ManagerMissing
	default:
		l.out.Manager.State = ManagerUnread
	}
	var d struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Name    string   `json:"name"`
						Image   string   `json:"image"`
						Command []string `json:"command"`
						Args    []string `json:"args"`
					} `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if l.c.Get(ctx, kinds.Deployment, state.ManagerNamespace, managerDeployment, &d) != nil {
		l.out.KueueVersion = versions.Release(m.Labels[versionLabel])
		return
	}
	for _, c := range d.Spec.Template.Spec.Containers {
		if c.Name == "manager" || len(d.Spec.Template.Spec.Containers) == 1 {
			l.out.KueueVersion = versions.OfImage(c.Image)
			l.out.Manager.Gates = state.Gates(state.GateFlags(slices.Concat(c.Command, c.Args)))
		}
	}
	l.out.KueueVersion = cmp.Or(l.out.KueueVersion, versions.Release(d.Metadata.Labels[versionLabel]))
}
