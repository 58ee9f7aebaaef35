package catalogue

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

//go:embed embedded/*.yaml
var embedded embed.FS

// Embedded is the Source of the templates that come with the program.
const Embedded = parse.Embedded

// Dirs are the folders of templates; "" leaves one out.
type Dirs struct {
	// Work is the working folder: NAME.yaml in it and in its subfolder jobs.
	Work string
	// User is the user's templates folder.
	User string
}

// IsFile reports whether a name means a file and not a template: a path, or a name that ends in .yaml or .yml.
func IsFile(name string) bool {
	return strings.ContainsRune(name, filepath.Separator) || strings.Contains(name, "/") || HasExtension(name)
}

// HasExtension reports whether a name ends as a file of YAML does.
func HasExtension(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// folders returns the folders in the order in which they are searched.
func (d Dirs) folders() []string {
	var out []string
	if d.Work != "" {
		out = append(out, d.Work, filepath.Join(d.Work, "jobs"))
	}
	if d.User != "" {
		out = append(out, d.User)
	}
	return out
}

// Find returns the template that a name means: a file when the name is a path or
// ends in .yaml or .yml, else NAME.yaml in the working folder, its folder jobs
// and the user's templates folder, else the embedded template of that name. An
// unknown name has exit code NotFound.
func Find(name string, d Dirs) (*parse.Template, error) {
	if IsFile(name) {
		path := name
		if !filepath.IsAbs(path) && d.Work != "" {
			path = filepath.Join(d.Work, path)
		}
		data, err := readFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errs.NotFoundf("file %s not found", name).WithCause(err)
		}
		if err != nil {
			return nil, unreadable(name, err)
		}
		return parse.Text(baseName(name), name, data)
	}
	folders := d.folders()
	if len(name) > longestName || strings.ContainsFunc(name, unicode.IsControl) {
		folders = nil // no file can have the name
	}
	for _, dir := range folders {
		for _, ext := range []string{".yaml", ".yml"} {
			path := filepath.Join(dir, name+ext)
			data, err := readRegular(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, unreadable(shown(path, d.Work), err)
			}
			return parse.Text(name, shown(path, d.Work), data)
		}
	}
	if data, err := embedded.ReadFile("embedded/" + name + ".yaml"); err == nil {
		return parse.Text(name, Embedded, data)
	}
	var names []string
	for _, info := range Names(d) {
		names = append(names, info.Name)
	}
	return nil, errs.NotFoundf("template %q not found%s", manifest.Clip(name), manifest.DidYouMean(errs.Near(name, names))).
		WithFact("available", words.Some(names, 20)).Suggest(suggest.File())
}

// longestName is how long a file's name can be, with .yaml at its end.
const longestName = 250

// shown returns a path for messages: relative to the working folder if it is below it.
func shown(path, work string) string {
	if rel, err := filepath.Rel(work, path); err == nil && work != "" && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func baseName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func unreadable(name string, err error) error {
	return errs.New("cannot read "+name, errs.FileReason(err)).WithCode(errs.Usage).WithCause(err)
}

// readRegular is readFile for a file of a folder of templates. Opening a pipe would wait for a writer.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	return readFile(path)
}

// readFile reads a file up to the limit of a template. The caller of Find makes it interruptible: a pipe may have no
// writer.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder", path)
	}
	return io.ReadAll(io.LimitReader(f, manifest.MaxBytes+1))
}
