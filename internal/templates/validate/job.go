package validate

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobrules"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// checkJob validates what is a job's own in a finished one: its name, and what its
// operator asks for.
func (f *Faults) checkJob(j *jobobject.View) {
	if err := checkName(j); err != nil {
		f.add("metadata.name", err)
	}
	f.checkRoles(j)
	for _, fault := range append(jobrules.ServerFaults(j.Kind, j.Object, manifest.Unfilled), jobrules.OperatorFaults(j.Kind, j.Object, manifest.Unfilled)...) {
		f.refuse("", fault)
	}
	if j.Kind.Form != nil {
		return
	}
	for _, r := range j.Roles() { // a role may be empty, unless a rule refuses it
		if path := r.Row.Replicas; len(path) == 1 {
			if n, ok := manifest.Count(r.Part[path[0]]); ok && n < 0 {
				f.add(manifest.JoinPath(r.At, path[0]), errs.Usagef("invalid %s %d of %s: must be at least 0", path[0], n, r.Name))
			}
		}
	}
}

// checkRoles validates what the description of the job's kind knows: the roles, their pods and how these restart.
func (f *Faults) checkRoles(j *jobobject.View) {
	if j.Kind.Refuse != nil && !otherWrapper(j) {
		if at, why := j.Kind.Refuse(j.Object); why != "" {
			f.add(pathOf(at), refused(j.Object, at, why), Below)
		}
	}
	roles := j.Roles()
	if len(roles) == 0 && (j.Kind.PodsElsewhere(j.Object) || j.Kind.OthersPods(j.Object)) {
		return
	}
	if len(roles) == 0 && otherWrapper(j) {
		return
	}
	if len(roles) == 0 {
		f.add("spec", errs.Usagef("the %s has no pods", j.Kind.Kind), Below)
		return
	}
	for _, r := range roles {
		f.checkRole(j, r)
	}
	f.checkResume(j, roles)
}

// pathOf returns the path to a field that a description of a kind writes as the API server does.
func pathOf(at string) string {
	var steps []any
	for _, s := range fieldpath.OfServer(at) {
		if s.List {
			steps = append(steps, s.Index)
			continue
		}
		steps = append(steps, s.Key)
	}
	return fieldAt("", steps)
}

// otherWrapper reports an AppWrapper of a version that is not served. Its fields are not known.
func otherWrapper(j *jobobject.View) bool {
	return j.Kind.Kind == kinds.AppWrapper.Kind && manifest.TextOf(j.Object["apiVersion"]) != kinds.AppWrapper.GroupVersion()
}

// refused returns the error for a field that the job's operator refuses. It shows a number of pods with its value.
func refused(object map[string]any, at, why string) *errs.Error {
	keys := strings.Split(at, ".")
	if n, ok := manifest.Count(kinds.At(object, keys...)); ok && len(keys) > 1 && keys[len(keys)-1] == "replicas" {
		return errs.Usagef("invalid replicas %d of %s: %s", n, keys[len(keys)-2], why)
	}
	return errs.Usagef("%s: %s", at, why)
}

// checkRole validates the pods of a role as the job's operator does.
func (f *Faults) checkRole(j *jobobject.View, r jobobject.Role) {
	pod := jobobject.Inner(r.Template, "spec")
	named := false // a container has the name that the operator looks for, or may have
	var names []string
	containers, _ := pod["containers"].([]any)
	for i, item := range containers {
		c, _ := item.(map[string]any)
		name := manifest.TextOf(c["name"])
		named = named || name == j.Kind.Launch().Container || name == "" || manifest.Unfilled(name)
		names = append(names, manifest.JoinPath(manifest.Location{Path: manifest.JoinPath(r.PodAt, "containers")}.Item(i).Path, "name"))
	}
	if name := j.Kind.Launch().Container; name != "" && !named {
		f.add(manifest.JoinPath(r.PodAt, "containers"), errs.Usagef("%s requires a container named %s: the %s looks for it", r.Name, name, j.Kind.Operator), names...)
	}
	restart := j.Kind.Launch().Restart
	want, policy, at := restart.Allowed, manifest.TextOf(r.Part["restartPolicy"]), manifest.JoinPath(r.At, "restartPolicy")
	if restart.Where == kinds.OfPods {
		policy, at = manifest.TextOf(pod["restartPolicy"]), manifest.JoinPath(r.PodAt, "restartPolicy")
	}
	if want == nil {
		want = values.RestartPolicies
	}
	if policy != "" && !manifest.Unfilled(policy) && !slices.Contains(want, policy) {
		f.add(at, errs.Usagef("invalid restart policy %q of %s: must be %s", policy, words.WithArticle(j.Kind.Kind), manifest.OrList(want)))
	}
}

// checkResume holds the two annotations of automatic resume and the restart
// policy together.
func (f *Faults) checkResume(j *jobobject.View, roles []jobobject.Role) {
	if j.Kind.Launch().Restart.Where != kinds.OfRole {
		return
	}
	annotations := jobobject.Inner(j.Object, "metadata", "annotations")
	retries, hasRetries := annotations[kinds.MaxRetryAnnotation]
	at := manifest.JoinPath("metadata.annotations", kinds.MaxRetryAnnotation)
	switch resume := manifest.TextOf(annotations[kinds.AutoResumeAnnotation]); {
	case manifest.Unfilled(resume):
		return // it is reported later
	case resume != "true":
		if hasRetries {
			f.add(at, errs.Usagef("the annotation %s requires %s: \"true\"", kinds.MaxRetryAnnotation, kinds.AutoResumeAnnotation).Suggest(setting.AutoResume.Option()))
		}
		return
	}
	if n, ok := manifest.Count(retries); hasRetries && (!ok || n < 0) && !manifest.Unfilled(manifest.TextOf(retries)) {
		f.add(at, errs.Usagef("invalid annotation %s %s: must be a whole number", kinds.MaxRetryAnnotation, manifest.QuoteText(manifest.TextOf(retries))))
	}
	if !hasRetries {
		f.add(manifest.JoinPath("metadata.annotations", kinds.AutoResumeAnnotation),
			errs.Usagef("the annotation %s requires %s", kinds.AutoResumeAnnotation, kinds.MaxRetryAnnotation).Suggest(setting.MaxRetry.Option("N")))
	}
	for _, r := range roles {
		if p := manifest.TextOf(r.Part["restartPolicy"]); p != "OnFailure" && !manifest.Unfilled(p) {
			if p == "" {
				p = "not set"
			}
			f.add(manifest.JoinPath(r.At, "restartPolicy"), errs.Usagef("automatic resume requires restart policy OnFailure: %s has %s", r.Name, p).Suggest(setting.RestartPolicy.Option("OnFailure")))
		}
	}
}

// checkName validates the job's name and that the names of its pods fit into
// DNS's 63 characters.
func checkName(j *jobobject.View) *errs.Error {
	name := manifest.TextOf(jobobject.Inner(j.Object, "metadata")["name"])
	if name == "" {
		return errs.Usagef("the job requires a name").Suggest(anyName())
	}
	if manifest.Unfilled(name) {
		return nil // reported as missing
	}
	if j.Kind.Beside && len(validation.IsDNS1123Subdomain(name)) == 0 {
		return nil // their pods get names of their own
	}
	if j.Kind.Kind == kinds.BatchJob.Kind && j.Kind.Group == kinds.BatchJob.Group {
		return checkBatchName(j, name)
	}
	if why := values.NotJobName(name); why != "" {
		return errs.Usagef("%s", why).Suggest(validName(name))
	}
	// The operators of these kinds give each pod a Service, whose name starts with
	// a letter (DNS-1035).
	if j.Kind.Services && name[0] >= '0' && name[0] <= '9' {
		return errs.Usagef("invalid name %q of %s: must start with a letter", name, words.WithArticle(j.Kind.Kind)).Suggest(anyName())
	}
	if jobrules.ChecksNames(j.Kind) {
		return nil
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
		return errs.Usagef("invalid name %q: must have at most %d characters, because pods are named NAME%s and their names have at most 63", manifest.Clip(name), limit, longest).Suggest(anyName())
	}
	return nil
}

// checkBatchName validates the name of a batch Job. It is a label of the pods, whose names Kubernetes shortens; those of
// indexed pods are host names.
func checkBatchName(j *jobobject.View, name string) *errs.Error {
	suffix := ""
	if n, ok := manifest.Count(kinds.At(j.Object, "spec", "completions")); ok && manifest.TextOf(kinds.At(j.Object, "spec", "completionMode")) == "Indexed" {
		suffix = "-" + strconv.Itoa(max(n-1, 0))
	}
	switch why := values.NotJobName(name); {
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		return errs.Usagef("%s", why).Suggest(validName(name))
	case suffix != "" && len(name+suffix) > 63:
		return errs.Usagef("invalid name %q: must have at most %d characters, because pods are named NAME%s and their names have at most 63", manifest.Clip(name), 63-len(suffix), suffix).Suggest(anyName())
	case len(name) > 63:
		return errs.Usagef("invalid name %q: must have at most 63 characters", manifest.Clip(name)).Suggest(anyName())
	}
	return nil
}

// anyName suggests the flag for a name.
func anyName() errs.Suggestion { return setting.Name.Option("NAME") }

// validName returns the option for the valid name that comes nearest to one that is not;
// that of any name where too little is left of it.
func validName(name string) errs.Suggestion {
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
		return anyName()
	}
	return setting.Name.Option(near)
}
