package values

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// The policies that exist: of pods for their images, of the training operators for restarts.
var (
	PullPolicies    = []string{"Always", "IfNotPresent", "Never"}
	RestartPolicies = []string{"Always", "OnFailure", "Never", "ExitCode"}
)

// Check validates the values without looking at a template.
func (v Values) Check() error {
	for _, one := range []struct {
		of   setting.Setting
		have string
		want []string
	}{
		{setting.PullPolicy, v.PullPolicy, PullPolicies},
		{setting.RestartPolicy, v.RestartPolicy, RestartPolicies},
		{setting.TasksPerNode, v.TasksBy, []string{tasksAuto, TasksGPU, TasksCPU}},
	} {
		if one.have != "" && !slices.Contains(one.want, one.have) {
			return one.of.NotOneOf(one.have, one.want)
		}
	}
	if err := v.checkQuantities(); err != nil {
		return err
	}
	if why := NotServiceAccount(v.ServiceAccount); v.ServiceAccount != "" && why != "" {
		return setting.ServiceAccount.InvalidSecret("%s", why)
	}
	for _, check := range []func() error{v.checkEnvironment, v.RunPolicy.check, v.Elastic.check, v.Rendezvous.Check, v.checkTopology} {
		if err := check(); err != nil {
			return err
		}
	}
	for _, volume := range v.Volumes {
		if err := volume.check(setting.Volumes, volume.VolumeName()); err != nil {
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
	for _, l := range []struct {
		of   setting.Setting
		have string
	}{{setting.Queue, v.Queue}, {setting.Priority, v.Priority}} {
		if l.have != "" && len(validation.IsValidLabelValue(l.have)) > 0 {
			return l.of.Invalid(l.have, "must be a valid label value")
		}
	}
	if why := kinds.NotNamespace(v.Namespace); v.Namespace != "" && why != "" {
		return setting.Namespace.InvalidSecret("%s", why)
	}
	return nil
}
