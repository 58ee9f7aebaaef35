package startjob

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates"
)

// DefaultTemplate is used when nothing else defines the job and the
// configuration names no other.
const DefaultTemplate = "pytorch"

// definition finds the template that defines the job, and says where it is from.
func (o *Options) definition(f *factory.Factory) (*templates.Template, error) {
	dirs := f.TemplateDirs()
	if o.File != "" {
		return o.readFile(f)
	}
	if o.Template != "" {
		return templates.Find(o.Template, dirs)
	}
	if o.JobKind != "" {
		for _, k := range kindTemplates {
			if k[0] == o.JobKind {
				return templates.Find(k[1], dirs)
			}
		}
	}
	t, err := templates.Find(o.Name, dirs)
	if errs.ExitOf(err) != errs.NotFound {
		return t, err
	}
	fallback := f.Config.DefaultTemplate
	if fallback == "" {
		fallback = DefaultTemplate
	}
	return templates.Find(fallback, dirs)
}

// readFile parses the manifest of --config-file; "-" is stdin.
func (o *Options) readFile(f *factory.Factory) (*templates.Template, error) {
	if isFolder(o.File) {
		return readFolder(o.File)
	}
	data, err := o.readManifest(f)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.NotFoundf("there is no file %s", o.File).WithCause(err)
	}
	if err != nil {
		return nil, errs.Wrap(err, "cannot read "+o.File)
	}
	return templates.Parse(baseName(o.File), o.File, data)
}

// readManifest reads no more than a little beyond what a manifest may have: the
// parser says that it is too large.
func (o *Options) readManifest(f *factory.Factory) ([]byte, error) {
	const most = 5 << 20
	if o.File == "-" {
		return io.ReadAll(io.LimitReader(f.IO.In, most))
	}
	file, err := os.Open(o.File)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

func describe(t *templates.Template) string {
	if t.Source == templates.Embedded {
		return fmt.Sprintf("using the embedded template %s", t.Name)
	}
	return fmt.Sprintf("using %s", t.Source)
}
