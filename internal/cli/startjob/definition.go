package startjob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/v2config"
)

// DefaultTemplate is used when nothing else defines the job and the
// configuration names no other.
const DefaultTemplate = "pytorch"

// definition finds the template that defines the job, and says where it is from.
func (o *Options) definition(ctx context.Context, f *factory.Factory) (*parse.Template, error) {
	dirs := f.TemplateDirs()
	if o.From != "" {
		return o.repeat(ctx, f)
	}
	if o.File != "" {
		return o.readFile(ctx, f)
	}
	if o.Recipe != "" {
		return o.fromRecipe(f)
	}
	if o.Template != "" {
		return o.named(ctx, f, o.Template)
	}
	if o.JobKind != "" {
		return catalogue.Find(o.kindTemplate(), dirs)
	}
	t, err := catalogue.Find(o.Name, dirs)
	if errs.ExitOf(err) != errs.NotFound {
		return t, err
	}
	fallback := f.Config.DefaultTemplate
	if fallback == "" {
		fallback = DefaultTemplate
	}
	return o.named(ctx, f, fallback)
}

// readFile parses the manifest of --config-file; "-" is stdin.
func (o *Options) readFile(ctx context.Context, f *factory.Factory) (*parse.Template, error) {
	if catalogue.IsFolder(o.File) {
		return readFolder(o.File)
	}
	data, err := f.ReadManifest(ctx, o.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.NotFoundf("there is no file %s", o.File).WithCause(err)
	}
	if err != nil && ctx.Err() == nil {
		return nil, errs.New("cannot read "+o.File, errs.FileReason(err)).WithCode(errs.Usage).WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	if v2config.Is(data) {
		return o.fromConfig(f, data)
	}
	return parse.Text(baseName(o.File), o.File, data)
}

func describe(t *parse.Template) string {
	if t.Source == catalogue.Embedded {
		return fmt.Sprintf("using the embedded template %s", t.Name)
	}
	return fmt.Sprintf("using %s", t.Source)
}
