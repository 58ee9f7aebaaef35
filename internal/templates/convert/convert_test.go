package convert

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fixed"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
)

// FuzzFromObjects: a template made of any manifest makes the same objects, or is
// refused with a reason; what restores the originals never changes them.
func FuzzFromObjects(f *testing.F) {
	files, _ := filepath.Glob("../testdata/manifests/*.yaml")
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      containers:\n      - name: c\n        image: i\n" + "        args: ['$JOB_NAME', '$$IMAGE', -np, 3, '--nnodes=1']\n"))
	f.Add([]byte("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      containers:\n      - name: c\n        image: i\n        env: [{name: TOKEN, value: a}]\n" +
		"        args: ['--token=b', --api-key, c, --token, a, --max-tokens, 5, '--password=$X', '--secret=', --token, --x]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tm, err := parse.Text("f", "f.yaml", data)
		if err != nil {
			return
		}
		if _, faults, _ := render.Check("f", "f.yaml", data); len(faults) == 0 {
			if _, err := tm.With(parse.Change{Help: "x"}); err != nil {
				t.Errorf("another description: %v", err)
			}
		}
		var objects []map[string]any
		for _, d := range tm.Docs {
			o, _ := d.Plain().(map[string]any)
			objects = append(objects, jobobject.Clean(o))
		}
		for _, repeat := range []bool{true, false} {
			m := &maker{Conversion: Conversion{Name: "f", Source: "f.yaml", Repeat: repeat}}
			for _, o := range objects {
				m.objects = append(m.objects, jobobject.CopyOf(o).(map[string]any))
			}
			if m.job, m.at = fixed.Target(m.objects); m.job == nil {
				continue
			}
			view, ok := jobobject.Of(m.job)
			if !ok {
				continue
			}
			m.name = manifest.TextOf(jobobject.Inner(m.job, "metadata")["name"])
			if m.name == "" {
				continue
			}
			m.pods = podNames(m.name)
			m.prepare(view)
			before := jobobject.CopyOf(any(m.objects[0]))
			_, _ = m.build(0)
			if !reflect.DeepEqual(before, any(m.objects[0])) {
				t.Errorf("building changed the job:\n%s", cmp.Diff(before, any(m.objects[0])))
			}
			if _, _, err := FromObjects(objects, m.Conversion); err != nil {
				var e *errs.Error
				if !errors.As(err, &e) || e.Error() == "" {
					t.Errorf("not an error for people: %#v", err)
				}
			}
		}
	})
}

// A name without end is refused before it becomes a pattern.
func TestLongName(t *testing.T) {
	job := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": strings.Repeat("x", 1<<20)}}
	if _, _, err := FromObjects([]map[string]any{job}, Conversion{Source: "f.yaml"}); errs.ExitOf(err) != errs.Usage || err.Error() != "the name of the job in f.yaml is too long: at most 253 characters" {
		t.Errorf("got %.200v", err)
	}
}
