package remedy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// commands are what to type to make a change to a job that exists. Where the user
// has no right to what they do, there are none, and the remedy's message says so.
func (f *finder) commands(r *Remedy) []string {
	e := f.Existing
	if e == nil {
		return nil
	}
	line := func(namespace, format string, args ...any) string {
		return "hyperpod " + fmt.Sprintf(format, args...) + " -n " + namespace + e.Flags
	}
	may := func(verb string, k kinds.Resource, namespace string) bool {
		if f.May == nil || f.May(f.ctx, verb, k, namespace) || verb == "patch" && f.May(f.ctx, "update", k, namespace) {
			return true // what may not be patched, patch-job replaces
		}
		r.Message = fmt.Sprintf("you have no right to %s %s in %s", verb, k.Plural, namespace)
		return false
	}
	again := !e.Together && f.Make != nil // it can be made of itself
	switch r.Code {
	case HigherPriority:
		if may("patch", e.Resource, e.Namespace) {
			return []string{line(e.Namespace, "patch-job priority %s --priority %s", e.Name, r.PriorityClass)}
		}
	case FewerNodes, OtherInstanceType:
		if again && r.Flag != "" && may("delete", e.Resource, e.Namespace) && may("create", e.Resource, e.Namespace) {
			return []string{line(e.Namespace, "start-job --from %s --replace %s", e.Name, r.Flag)}
		}
	case OtherQueue:
		if !again || !may("delete", e.Resource, e.Namespace) || !may("create", e.Resource, r.Namespace) {
			return nil
		}
		if r.Namespace == e.Namespace {
			return []string{line(e.Namespace, "start-job --from %s --replace --queue-name %s", e.Name, r.Queue)}
		}
		return []string{
			line(r.Namespace, "start-job --from %s/%s --name %s --queue-name %s", e.Namespace, e.Name, e.Name, r.Queue),
			line(e.Namespace, "cancel-job %s", e.Name),
		}
	case JobsEnd:
		own := ownJobs(r.Jobs, e.Namespace, func(k kinds.Resource) bool { return may("delete", k, e.Namespace) })
		if len(own) > 0 {
			return []string{line(e.Namespace, "cancel-job %s", strings.Join(own, " "))}
		}
	}
	return nil
}

// ownJobs are the names of those of the jobs that are the namespace's and of a kind
// that the user may end.
func ownJobs(list []Holder, namespace string, may func(kinds.Resource) bool) []string {
	var out []string
	for _, h := range list {
		k, _ := kinds.JobNamed(h.Kind)
		if h.cancellable(namespace) && !slices.Contains(out, h.Name) && may(k.Resource) {
			out = append(out, h.Name)
		}
	}
	return out
}

// cancellable tells a job of the namespace that cancel-job knows.
func (h *Holder) cancellable(namespace string) bool {
	_, known := kinds.JobNamed(h.Kind)
	return h.Namespace == namespace && known && !h.Hidden
}

// Others are the jobs of a JobsEnd remedy that Commands do not end: whom to ask.
func (r *Remedy) Others(namespace string) []Holder {
	var out []Holder
	for _, h := range r.Jobs {
		if !h.cancellable(namespace) {
			out = append(out, h)
		}
	}
	return out
}
