package simulatecmd

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/simulation"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// inFile returns the error of a manifest without the flags of start-job that would fix it.
func inFile(err error, path string) error {
	var e *errs.Error
	if errors.As(err, &e) {
		e.Try = slices.DeleteFunc(e.Try, errs.Suggestion.IsOption)
		e.WithFact("file", path)
	}
	return err
}

// objects returns the change of a file with objects of Kueue.
func (o *Options) objects(path string, data []byte, namespace func() (string, error)) (simulate.Change, error) {
	c, err := simulate.FromFile(path, data, namespace)
	var invalid *simulate.Error
	if !errors.As(err, &invalid) || invalid.Code != simulate.InvalidFile {
		return c, simulation.Error(err)
	}
	newer, unknown, failed := simulate.FromNewerFile(path, data, namespace)
	switch {
	case failed != nil:
		return c, simulation.Error(err)
	case o.AllowUnknown:
		o.Factory.Notef("note: %s: the simulation leaves out fields that this version does not know: %v", path, unknown)
		return newer, nil
	}
	out := simulation.Error(err)
	var e *errs.Error
	if errors.As(out, &e) {
		e.Suggest(errs.Option("--allow-unknown").WithNote("leaves out fields that this version does not know"))
	}
	return c, out
}

// allow returns the decision about fields of a manifest that the program does not know.
func (o *Options) allow(path string) schema.Allow {
	if !o.AllowUnknown {
		return nil
	}
	seen := map[string]bool{}
	return func(f schema.Field) bool {
		if note := schema.NoteUnchecked(f); !seen[note] {
			seen[note] = true
			o.Factory.Notef("note: %s: %s", path, note)
		}
		return true
	}
}

// jobs returns the objects of a manifest that are jobs, as start-job -f would submit
// them. namespace is where those go that name none.
func (o *Options) jobs(ctx context.Context, c *factory.Cluster, path string, namespace func() (string, error)) ([]simulate.Change, error) {
	data, err := o.Factory.ReadNamed(ctx, path)
	if err != nil {
		return nil, err
	}
	t, err := parse.TextAllowing(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), path, data, o.allow(path))
	if err != nil {
		return nil, err
	}
	var named values.Values
	if prefix := resolve.GenerateName(t, named); prefix != "" { // the server would complete it
		named.Name = strings.TrimSuffix(prefix, "-")
	}
	r, err := render.Objects(t, named)
	if err != nil {
		return nil, inFile(err, path)
	}
	var jobs []map[string]any
	var other []string
	runtimes := state.NewRuntimes(c.Client)
	for _, object := range r.Objects {
		kind := kinds.Text(object, "kind")
		k, known := kinds.JobFor(kinds.Text(object, "apiVersion"), kind)
		if !known && !strings.HasSuffix(kind, "Job") {
			other = append(other, kind)
			continue
		}
		jobs = append(jobs, runtimes.Whole(ctx, k, object))
	}
	var out []simulate.Change
	for _, unit := range kinds.ByGroup(jobs) {
		manifests := make([][]byte, len(unit))
		for i, at := range unit {
			if manifests[i], err = json.Marshal(jobs[at]); err != nil {
				return nil, err
			}
		}
		first := jobs[unit[0]]
		home := kinds.Text(first, "metadata", "namespace")
		if home == "" {
			if home, err = namespace(); err != nil {
				return nil, err
			}
		}
		if _, grouped := kinds.PodGroupOf(first); grouped {
			out = append(out, simulate.NewGroup(path, manifests, home))
		} else {
			out = append(out, simulate.NewJob(path, manifests[0], home))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	e := errs.Usagef("%s contains no job", path).WithFact("supported", strings.Join(kinds.JobNames(), ", "))
	if len(other) > 0 {
		e.WithFact("found", strings.Join(other, ", "))
	}
	return nil, e
}
