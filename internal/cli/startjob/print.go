package startjob

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// printResult prints what was done: a sentence for a job alone, else a line for each object in kubectl's words. The files of
// --upload are part of the job.
func (r *run) printResult(done submit.Result, j job) error {
	out := r.factory.IO.Out
	alone := len(done.Objects) == 1 && j.Job == 0 || len(done.Objects) == 2 && r.code != nil
	if alone && (done.Actions[j.Job] == submit.Created || done.Reused) {
		_, err := fmt.Fprintf(out, "Successfully created job %s\n", submit.Object{Body: j.Objects[j.Job]}.Name())
		return err
	}
	for i, object := range done.Objects {
		if _, err := fmt.Fprintf(out, "%s %s\n", fullName(object), done.Actions[i]); err != nil {
			return err
		}
	}
	return nil
}

// toldApart returns the objects, with an idempotency key the job as a copy with the key Created: whether this start
// created it.
func toldApart(done submit.Result, req submit.Request) []map[string]any {
	if req.Key == "" || req.Job < 0 {
		return done.Objects
	}
	out := slices.Clone(done.Objects)
	out[req.Job] = maps.Clone(out[req.Job])
	out[req.Job]["Created"] = !done.Reused
	return out
}

// print prints objects in the format of -o. Without a format it prints a line for each object that names the dry run.
func (r *run) print(objects []map[string]any, dryRun string) error {
	f := r.factory
	if f.Global.Output == "" {
		for _, object := range objects {
			if _, err := fmt.Fprintf(f.IO.Out, "%s created (%s)\n", fullName(object), dryRun); err != nil {
				return err
			}
		}
		return nil
	}
	format, err := f.Format()
	if err != nil {
		return err
	}
	objects = withoutManagers(objects)
	var document any = objects[0]
	if len(objects) > 1 {
		list := make(output.Objects, len(objects))
		for i := range objects {
			list[i] = objects[i]
		}
		document = list
	}
	names := func() (out []string) {
		for _, object := range objects {
			out = append(out, fullName(object))
		}
		return out
	}
	table := func() output.Table {
		t := output.Table{Columns: []output.Column{{Title: "KIND"}, {Title: "NAME"}}}
		for _, object := range objects {
			t.Rows = append(t.Rows, output.T(kinds.Text(object, "kind"), kinds.Text(object, "metadata", "name")))
		}
		return t
	}
	return output.Print(f.IO, format, document, table, names)
}

// withoutManagers returns the objects without their managed fields, which kubectl does not print either.
func withoutManagers(objects []map[string]any) []map[string]any {
	out := make([]map[string]any, len(objects))
	for i, object := range objects {
		out[i] = object
		if meta, ok := object["metadata"].(map[string]any); ok && meta["managedFields"] != nil {
			meta = maps.Clone(meta)
			delete(meta, "managedFields")
			out[i] = maps.Clone(object)
			out[i]["metadata"] = meta
		}
	}
	return out
}

// fullName returns "kind.group/name", the form in which kubectl names an object.
func fullName(object map[string]any) string {
	group, _, found := strings.Cut(kinds.Text(object, "apiVersion"), "/")
	kind := strings.ToLower(kinds.Text(object, "kind"))
	if found && group != "" {
		kind += "." + group
	}
	return kind + "/" + kinds.Text(object, "metadata", "name")
}
