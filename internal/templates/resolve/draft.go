package resolve

import (
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Draft returns the job with everything filled in that needs no computation, so that the caller can read what
// the manifest sets. It is nil if there is no job.
func Draft(t *parse.Template, v values.Values) (*jobobject.View, error) {
	f, err := filler(t, v)
	if err != nil {
		return nil, err
	}
	if at := t.Job(); at >= 0 {
		o, _ := f.Fill(t.Docs[at], manifest.Location{}).Plain().(map[string]any)
		if view, ok := jobobject.Of(o); ok {
			return view, nil
		}
	}
	return nil, nil
}

// Queue returns the queue that the manifest gives its job, or the first object with a queue; "" if there is
// none.
func Queue(t *parse.Template, v values.Values) string {
	if q := Label(t, v, kinds.QueueLabel); q != "" {
		return q
	}
	f, err := filler(t, v)
	if err != nil {
		return ""
	}
	for _, d := range t.Docs {
		o, _ := f.Fill(d, manifest.Location{}).Plain().(map[string]any)
		if q := jobobject.Queue(o); q != "" && !manifest.Unfilled(q) {
			return q
		}
	}
	return ""
}

// filler fills in what was given and the defaults.
func filler(t *parse.Template, v values.Values) (*parse.Filler, error) {
	given, _, err := splitSet(t, v)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for _, p := range t.Params {
		if p.Default != nil {
			values[p.Name] = p.DefaultAsWritten()
		}
	}
	for name, g := range given {
		values[name] = g
	}
	return &parse.Filler{Values: values}, nil
}

// Namespace returns the namespace in the manifest after the parameters are filled in, "" if there is none. It
// is for callers without a namespace of their own.
func Namespace(t *parse.Template, v values.Values) string { return stated(t, v, "namespace") }

// Name returns the name that the manifest gives its job, "" if there is none.
func Name(t *parse.Template, v values.Values) string { return stated(t, v, "name") }

// GenerateName returns the beginning of a name that the manifest asks the server to complete. It is "" if the
// manifest has a full name or neither.
func GenerateName(t *parse.Template, v values.Values) string {
	if stated(t, v, "name") != "" {
		return ""
	}
	return stated(t, v, "generateName")
}

// Label returns a label that the manifest gives its job, "" if there is none.
func Label(t *parse.Template, v values.Values, name string) string {
	return stated(t, v, "labels", name)
}

// PodPriority returns the priorityClassName of the first pods of the job that have one, "" if
// there is none. Kueue ranks a job by it that has no class of its own.
func PodPriority(t *parse.Template, v values.Values) string {
	draft, err := Draft(t, v)
	if err != nil || draft == nil {
		return ""
	}
	for _, r := range draft.Roles() {
		if name := manifest.TextOf(jobobject.Inner(r.Template, "spec")["priorityClassName"]); name != "" && !manifest.Unfilled(name) {
			return name
		}
	}
	return ""
}

// stated returns a text from the job's metadata after the parameters are filled in, "" if there is none.
func stated(t *parse.Template, v values.Values, path ...string) string {
	draft, err := Draft(t, v)
	if err != nil || draft == nil {
		return ""
	}
	last := len(path) - 1
	text := manifest.TextOf(jobobject.Inner(draft.Object, append([]string{"metadata"}, path[:last]...)...)[path[last]])
	if manifest.Unfilled(text) {
		return ""
	}
	return text
}
