package catalogue

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// Unusable is a file in a folder for templates that is not a template, or a folder for templates that cannot be read.
type Unusable struct {
	Source string
	Err    error
}

// All returns the templates that Find finds by name, in the order of their names. The first template with a
// name hides the others. It leaves out other files of the working directory, which holds other things too, and
// reports other files of the templates folder as Unusable.
func All(d Dirs) ([]parse.Info, []Unusable) {
	var out []parse.Info
	var unusable []Unusable
	add := func(t *parse.Template) {
		if !slices.ContainsFunc(out, func(i parse.Info) bool { return i.Name == t.Name }) {
			out = append(out, t.Info())
		}
	}
	for _, dir := range d.folders() {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrPermission) {
			unusable = append(unusable, Unusable{shown(dir, d.Work), errors.New(errs.FileReason(err))})
		}
		for _, e := range entries {
			ext := filepath.Ext(e.Name())
			if e.IsDir() || ext != ".yaml" && ext != ".yml" {
				continue
			}
			path := filepath.Join(dir, e.Name())
			var t *parse.Template
			data, err := readRegular(path)
			if err != nil {
				err = errors.New(errs.FileReason(err))
			} else {
				t, err = parse.Text(baseName(path), shown(path, d.Work), data)
			}
			if err != nil && dir != d.Work {
				unusable = append(unusable, Unusable{shown(path, d.Work), err})
			}
			if err == nil {
				add(t)
			}
		}
	}
	entries, _ := embedded.ReadDir("embedded")
	for _, e := range entries {
		if data, err := embedded.ReadFile("embedded/" + e.Name()); err == nil {
			if t, err := parse.Text(baseName(e.Name()), Embedded, data); err == nil {
				add(t)
			}
		}
	}
	slices.SortFunc(out, func(a, b parse.Info) int { return strings.Compare(a.Name, b.Name) })
	return out, unusable
}

// Names returns the templates of All without the unusable files.
func Names(d Dirs) []parse.Info {
	out, _ := All(d)
	return out
}
