package values

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// The policies that exist: of pods for their images, of the training operators for restarts.
var (
	PullPolicies    = []string{"Always", "IfNotPresent", "Never"}
	RestartPolicies = []string{"Always", "OnFailure", "Never", "ExitCode"}
)

// check validates the values by themselves.
func (v Values) Check() error {
	for _, one := range []struct {
		flag, have string
		want       []string
	}{
		{"--pull-policy", v.PullPolicy, PullPolicies},
		{"--restart-policy", v.RestartPolicy, RestartPolicies},
		{"--tasks-per-node", v.TasksBy, []string{tasksAuto, TasksGPU, TasksCPU}},
	} {
		if one.have != "" && !slices.Contains(one.want, one.have) {
			return errs.Usagef("%s %q is not one of %s%s", one.flag, one.have, strings.Join(one.want, ", "), manifest.Meant(errs.Near(one.have, one.want)))
		}
	}
	if err := v.checkQuantities(); err != nil {
		return err
	}
	if why := NotServiceAccount(v.ServiceAccount); v.ServiceAccount != "" && why != "" {
		return errs.Usagef("--service-account-name %s", why)
	}
	for _, check := range []func() error{v.checkEnvironment, v.RunPolicy.check, v.Elastic.check, v.Rendezvous.Check, v.checkTopology} {
		if err := check(); err != nil {
			return err
		}
	}
	for _, volume := range v.Volumes {
		if err := volume.check("--volumes", volume.VolumeName()); err != nil {
			return err
		}
	}
	if err := checkVolumes(v.Volumes); err != nil {
		return err
	}
	if err := v.LabelSelector.check(); err != nil {
		return err
	}
	return v.checkLabels()
}

func (v Values) checkLabels() error {
	for _, k := range manifest.SortedKeys(v.Labels) {
		if why := NotLabel(k, v.Labels[k]); why != "" {
			return errs.Usagef("%s", why)
		}
	}
	for _, k := range manifest.SortedKeys(v.Annotations) {
		if why := NotAnnotation(k); why != "" {
			return errs.Usagef("%s", why)
		}
	}
	for _, l := range []struct{ flag, have string }{{"--queue-name", v.Queue}, {"--priority", v.Priority}} {
		if l.have != "" && len(validation.IsValidLabelValue(l.have)) > 0 {
			return errs.Usagef("%s %s cannot be a name", l.flag, manifest.QuoteText(l.have))
		}
	}
	if why := kinds.NotNamespace(v.Namespace); v.Namespace != "" && why != "" {
		return errs.Usagef("--namespace %s", why)
	}
	return nil
}
