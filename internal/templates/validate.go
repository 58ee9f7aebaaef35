package templates

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobview"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check validates the values by themselves.
func (v Values) check() error {
	for _, one := range []struct {
		flag, have string
		want       []string
	}{
		{"--pull-policy", v.PullPolicy, []string{"Always", "IfNotPresent", "Never"}},
		{"--restart-policy", v.RestartPolicy, []string{"Always", "OnFailure", "Never", "ExitCode"}},
		{"--tasks-per-node", v.TasksBy, []string{tasksAuto, tasksGPU, tasksCPU}},
	} {
		if one.have != "" && !slices.Contains(one.want, one.have) {
			return errs.Usagef("%s %q is not one of %s%s", one.flag, one.have, strings.Join(one.want, ", "), manifest.Meant(errs.Near(one.have, one.want)))
		}
	}
	if err := v.checkQuantities(); err != nil {
		return err
	}
	if v.ServiceAccount != "" && len(validation.IsDNS1123Subdomain(v.ServiceAccount)) > 0 {
		return errs.Usagef("--service-account-name %s cannot be a service account: lower-case letters, digits, - and .", manifest.QuoteText(v.ServiceAccount))
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
		if len(validation.IsQualifiedName(k)) > 0 {
			return errs.Usagef("%s is no label name", manifest.QuoteText(k))
		}
		if len(validation.IsValidLabelValue(v.Labels[k])) > 0 {
			return errs.Usagef("the label %s cannot have the value %s: at most 63 letters, digits, -, _ and .", k, manifest.QuoteText(v.Labels[k]))
		}
	}
	for _, k := range manifest.SortedKeys(v.Annotations) {
		if len(validation.IsQualifiedName(strings.ToLower(k))) > 0 {
			return errs.Usagef("%s is no annotation name", manifest.QuoteText(k))
		}
	}
	for _, l := range []struct{ flag, have string }{{"--queue-name", v.Queue}, {"--priority", v.Priority}} {
		if l.have != "" && len(validation.IsValidLabelValue(l.have)) > 0 {
			return errs.Usagef("%s %s cannot be a name", l.flag, manifest.QuoteText(l.have))
		}
	}
	if v.Namespace != "" && len(validation.IsDNS1123Label(v.Namespace)) > 0 {
		return errs.Usagef("--namespace %s cannot be a namespace: lower-case letters, digits and -, at most 63", manifest.QuoteText(v.Namespace))
	}
	return nil
}

// checkName validates the job's name and that the names of its pods fit into
// DNS's 63 characters.
func checkName(j *jobview.View) *errs.Error {
	name := manifest.TextOf(jobview.Inner(j.Object, "metadata")["name"])
	if name == "" {
		return errs.Usagef("the job has no name").WithTry("--name NAME")
	}
	if manifest.Unfilled(name) {
		return nil // reported as missing
	}
	if len(validation.IsDNS1123Label(name)) > 0 && len(name) <= 63 {
		return errs.Usagef("%q cannot be a job's name: lower-case letters, digits and -, a letter or digit at both ends", manifest.Clip(name)).WithTry(validName(name)...)
	}
	// The operators of these kinds give each pod a Service, whose name starts with
	// a letter (DNS-1035).
	if j.Kind.Group == kinds.PyTorchJob.Group && name[0] >= '0' && name[0] <= '9' {
		return errs.Usagef("%q cannot be the name of a %s: it has to start with a letter", name, j.Kind.Kind)
	}
	longest := ""
	for _, r := range j.Roles() {
		suffix := "-" + strings.ToLower(r.Name) + "-" + strconv.Itoa(max(r.Count()-1, 0))
		if r.Name == "Launcher" {
			suffix = "-launcher-xxxxx" // a Job's pod
		}
		if len(suffix) > len(longest) {
			longest = suffix
		}
	}
	if limit := 63 - len(longest); len(name) > limit {
		return errs.Usagef("the name %q has %d characters, and at most %d fit: pods are named NAME%s and have 63", manifest.Clip(name), len(name), limit, longest)
	}
	return nil
}

// validName is the option for the valid name that comes nearest to one that is not;
// none where too little is left of it.
func validName(name string) []string {
	near := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r == '_', r == '.', r == ' ', r == '/':
			return '-'
		}
		return -1
	}, strings.ToLower(name)), "-")
	if len(near) < 2 {
		return nil
	}
	return []string{"--name " + near}
}

// checkJob validates the finished job. The error lists everything that is wrong.
func (s *settings) checkJob(j *jobview.View) error {
	f := &jobFaults{kind: j.Kind.Kind}
	if err := checkName(j); err != nil {
		f.add("metadata.name", err)
	}
	roles := j.Roles()
	if len(roles) == 0 {
		f.add("spec", errs.Usagef("the %s describes no pods", j.Kind.Kind))
		return f.err()
	}
	for _, r := range roles {
		if r.Replicas != "" {
			if n, ok := manifest.Count(r.Part[r.Replicas]); ok && n < 1 {
				f.add(manifest.JoinPath(r.At, r.Replicas), errs.Usagef("%s has %d replicas, want at least 1", r.Name, n))
			}
		}
		f.checkRole(j, r)
	}
	f.checkResume(j, roles)
	return f.err()
}

// noBlanks is text on one line without blanks, as the name of an image is.
var noBlanks = regexp.MustCompile(`^[^\s\pC]+$`)

func (f *jobFaults) checkRole(j *jobview.View, r jobview.Role) {
	pod := jobview.Inner(r.Template, "spec")
	for _, list := range []string{"initContainers", "containers"} {
		for i, c := range jobview.MapsIn(pod[list]) {
			at := manifest.Place{Path: manifest.JoinPath(r.PodAt, list)}.Item(i).Path
			f.checkResources(at, r.Name, c)
			switch image := manifest.TextOf(c["image"]); {
			case image == "" && list == "containers":
				f.add(at, errs.Usagef("container %s of %s has no image", manifest.TextOf(c["name"]), r.Name).WithTry("--image IMAGE"))
			case image != "" && !noBlanks.MatchString(image) && !manifest.Unfilled(image):
				f.add(manifest.JoinPath(at, "image"), errs.Usagef("%s cannot be an image: container %s of %s", manifest.QuoteText(image), manifest.TextOf(c["name"]), r.Name).WithTry("--image REGISTRY/NAME:TAG"))
			}
			if p, set := c["imagePullPolicy"]; set && !slices.Contains([]string{"Always", "IfNotPresent", "Never"}, manifest.TextOf(p)) {
				f.add(manifest.JoinPath(at, "imagePullPolicy"), errs.Usagef("imagePullPolicy %s is not one of Always, IfNotPresent, Never", manifest.QuoteText(manifest.TextOf(p))))
			}
		}
	}
	if j.IsKind(kinds.PyTorchJob) && jobview.Named(pod["containers"], "pytorch") == nil {
		f.add(manifest.JoinPath(r.PodAt, "containers"), errs.Usagef("no container of %s is named pytorch, which the Kubeflow training operator asks for", r.Name))
	}
	want, at := []string{"Always", "OnFailure", "Never", "ExitCode"}, manifest.JoinPath(r.At, "restartPolicy")
	policy := manifest.TextOf(r.Part["restartPolicy"])
	switch {
	case j.IsKind(kinds.BatchJob):
		want, policy, at = []string{"OnFailure", "Never"}, manifest.TextOf(pod["restartPolicy"]), manifest.JoinPath(r.PodAt, "restartPolicy")
	case j.IsKind(kinds.MPIJob):
		want = []string{"OnFailure", "Never"}
	case j.IsKind(kinds.HyperPodPyTorchJob):
		want, policy, at = want[:3], manifest.TextOf(pod["restartPolicy"]), manifest.JoinPath(r.PodAt, "restartPolicy")
	}
	if policy != "" && !slices.Contains(want, policy) {
		f.add(at, errs.Usagef("restart policy %q is not one of %s for a %s", policy, strings.Join(want, ", "), j.Kind.Kind))
	}
}

// checkResume holds the two annotations of automatic resume and the restart
// policy together.
func (f *jobFaults) checkResume(j *jobview.View, roles []jobview.Role) {
	if j.Kind.Group != kinds.PyTorchJob.Group {
		return
	}
	annotations := jobview.Inner(j.Object, "metadata", "annotations")
	retries, hasRetries := annotations[kinds.MaxRetryAnnotation]
	at := manifest.JoinPath("metadata.annotations", kinds.MaxRetryAnnotation)
	if manifest.TextOf(annotations[kinds.AutoResumeAnnotation]) != "true" {
		if hasRetries {
			f.add(at, errs.Usagef("the annotation %s works only together with %s: \"true\"", kinds.MaxRetryAnnotation, kinds.AutoResumeAnnotation).WithTry("--auto-resume"))
		}
		return
	}
	if n, ok := manifest.Count(retries); hasRetries && (!ok || n < 0) {
		f.add(at, errs.Usagef("the annotation %s is %s, want a whole number", kinds.MaxRetryAnnotation, manifest.QuoteText(manifest.TextOf(retries))))
	}
	if !hasRetries {
		f.add(manifest.JoinPath("metadata.annotations", kinds.AutoResumeAnnotation),
			errs.Usagef("the annotation %s works only together with %s", kinds.AutoResumeAnnotation, kinds.MaxRetryAnnotation).WithTry("--max-retry N"))
	}
	for _, r := range roles {
		if p := manifest.TextOf(r.Part["restartPolicy"]); p != "OnFailure" {
			if p == "" {
				p = "not set"
			}
			f.add(manifest.JoinPath(r.At, "restartPolicy"), errs.Usagef("automatic resume needs restart policy OnFailure, and that of %s is %s", r.Name, p).WithTry("--restart-policy OnFailure"))
		}
	}
}

// checkFits compares what the pods ask for with what a node of the type leaves.
func (s *settings) checkFits(j *jobview.View) error {
	if !s.hasType || s.typ.VCPU == 0 {
		return nil
	}
	cpu, memory := s.allocatable()
	for _, r := range j.Roles() {
		if !r.Trains {
			continue
		}
		requests := jobview.Inner(jobview.Container(r.Pod()), "resources", "requests")
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
				return errs.Usagef("%s of %s is more than %s has (%s)", want.name, q.String(), s.instanceType, want.text(want.total))
			case n > want.left:
				s.notef("%s of %s may not fit: about %s of %s are left for pods on %s", want.name, q.String(), want.text(want.left), want.text(want.total), s.instanceType)
			}
		}
	}
	return nil
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
		if help == "" && p.line > 0 {
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
