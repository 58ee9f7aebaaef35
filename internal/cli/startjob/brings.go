package startjob

import (
	"errors"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// bringsNeeded reports whether err says that an object is missing which the job needs, and the same manifest creates it. A
// rehearsal creates nothing, so the server refuses what a start creates.
func bringsNeeded(err error, objects []map[string]any, job int) bool {
	var e *errs.Error
	if job < 0 || !errors.As(err, &e) {
		return false
	}
	return slices.ContainsFunc(neededAtCreation(objects[job]), func(n needed) bool {
		return strings.Contains(message(e), n.name) && slices.ContainsFunc(objects, func(o map[string]any) bool {
			return kinds.Text(o, "kind") == n.kind && kinds.Text(o, "metadata", "name") == n.name
		})
	})
}

// needed is an object that must exist before another one is created.
type needed struct{ kind, name string }

// neededAtCreation returns what must exist before a job is created: the runtime that describes its pods, and what a pod names.
func neededAtCreation(object map[string]any) (out []needed) {
	of, _ := kinds.JobFor(kinds.Text(object, "apiVersion"), kinds.Text(object, "kind"))
	if ref, ok := of.RuntimeOf(object); ok {
		out = append(out, needed{ref.Kind, ref.Name})
	}
	if of.FullName() != kinds.Pod.FullName() {
		return out
	}
	for field, kind := range map[string]kinds.Resource{
		"serviceAccountName": kinds.ServiceAccount, "serviceAccount": kinds.ServiceAccount,
		"priorityClassName": kinds.PriorityClass, "runtimeClassName": kinds.RuntimeClass,
	} {
		if name := kinds.Text(object, "spec", field); name != "" {
			out = append(out, needed{kind.Kind, name})
		}
	}
	return out
}
