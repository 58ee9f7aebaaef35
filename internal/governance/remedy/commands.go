package remedy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// commands are what to type to make a change to a job that exists.
func (f *finder) commands(r *Remedy) []string {
	e := f.Existing
	if e == nil {
		return nil
	}
	line := func(namespace, format string, args ...any) string {
		return "hyperpod " + fmt.Sprintf(format, args...) + " -n " + namespace + e.Flags
	}
	switch r.Code {
	case HigherPriority:
		return []string{line(e.Namespace, "patch-job priority %s --priority %s", e.Name, r.PriorityClass)}
	case FewerNodes, OtherInstanceType:
		if r.Flag != "" && !e.Together && f.Make != nil {
			return []string{line(e.Namespace, "start-job --from %s --replace %s", e.Name, r.Flag)}
		}
	case OtherQueue:
		switch {
		case e.Together || f.Make == nil:
		case r.Namespace == e.Namespace:
			return []string{line(e.Namespace, "start-job --from %s --replace --queue-name %s", e.Name, r.Queue)}
		default:
			return []string{
				line(r.Namespace, "start-job --from %s/%s --name %s --queue-name %s", e.Namespace, e.Name, e.Name, r.Queue),
				line(e.Namespace, "cancel-job %s", e.Name),
			}
		}
	case JobsEnd:
		if own := ownJobs(r.Jobs, e.Namespace); len(own) > 0 {
			return []string{line(e.Namespace, "cancel-job %s", strings.Join(own, " "))}
		}
	}
	return nil
}

// ownJobs are the names of those of the jobs that the namespace's team may end
// with cancel-job.
func ownJobs(list []Holder, namespace string) []string {
	var out []string
	for _, h := range list {
		if h.cancellable(namespace) && !slices.Contains(out, h.Name) {
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
