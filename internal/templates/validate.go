package templates

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// The policies that exist: of pods for their images, of the training operators for restarts.
var (
	pullPolicies    = []string{"Always", "IfNotPresent", "Never"}
	restartPolicies = []string{"Always", "OnFailure", "Never", "ExitCode"}
)

// check validates the values by themselves.
func (v Values) check() error {
	for _, one := range []struct {
		flag, have string
		want       []string
	}{
		{"--pull-policy", v.PullPolicy, pullPolicies},
		{"--restart-policy", v.RestartPolicy, restartPolicies},
		{"--tasks-per-node", v.TasksBy, []string{tasksAuto, tasksGPU, tasksCPU}},
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
	for _, check := range []func() error{v.checkEnvironment, v.RunPolicy.check, v.Elastic.check, v.Rendezvous.check, v.checkTopology} {
		if err := check(); err != nil {
			return err
		}
	}
	for _, volume := range v.Volumes {
		if err := volume.check("--volumes", volume.name()); err != nil {
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

// checkFits compares what the pods ask for with what a node of the type leaves.
func (s *settings) checkFits(f *objectFaults, j *jobobject.View) {
	if !s.hasType || s.typ.VCPU == 0 {
		return
	}
	cpu, memory := s.allocatable()
	for _, r := range j.Roles() {
		if !r.Trains {
			continue
		}
		c := jobobject.Container(r.Pod())
		containers, _ := r.Pod()["containers"].([]any)
		i := slices.IndexFunc(containers, func(item any) bool { m, _ := item.(map[string]any); return m["name"] == c["name"] })
		at := manifest.Place{Path: manifest.JoinPath(r.PodAt, "containers")}.Item(max(i, 0)).Path + ".resources.requests"
		requests := jobobject.Inner(c, "resources", "requests")
		for _, want := range []struct {
			name        string
			total, left int64
			text        func(int64) string
			milli       bool
		}{{"cpu", int64(s.typ.VCPU) * 1000, cpu, cpuText, true}, {"memory", int64(s.typ.MemoryGiB) << 30, memory, memoryText, false}} {
			q, err := resource.ParseQuantity(manifest.TextOf(requests[want.name]))
			if err != nil {
				continue
			}
			n := q.Value()
			if want.milli {
				n = q.MilliValue()
			}
			switch {
			case n > want.total:
				f.add(manifest.JoinPath(at, want.name), errs.Usagef("%s of %s is more than %s has (%s)", want.name, q.String(), s.instanceType, want.text(want.total)))
			case n > want.left:
				s.notef("%s of %s may not fit: about %s of %s are left for pods on %s", want.name, q.String(), want.text(want.left), want.text(want.total), s.instanceType)
			}
		}
	}
}

// missingError lists every parameter without a value.
func (t *Template) missingError(names []string) error {
	e := errs.Usagef("template %s needs %d more values", t.Name, len(names))
	if len(names) == 1 {
		e = errs.Usagef("template %s needs a value for %s", t.Name, names[0])
	}
	var flags []string
	for _, name := range names {
		p, _ := t.Param(name)
		help := p.Help
		switch {
		case help != "" || p.line == 0:
		case p.Declared:
			help = fmt.Sprintf("declared in line %d", p.line)
		default:
			help = fmt.Sprintf("used in line %d", p.line)
		}
		how := "--set " + name + "=VALUE"
		value := how
		if p.Flag != "" {
			how, value = p.Flag, p.Flag+" VALUE"
		}
		flags = append(flags, value)
		e.WithFact(name, strings.TrimSpace(help+" ("+how+")"))
	}
	return e.WithTry(strings.Join(flags, " "))
}
