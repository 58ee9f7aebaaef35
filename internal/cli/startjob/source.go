package startjob

import (
	"context"

	"github.com/hyperpod-cli/hyperpod/internal/cli/editor"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates"
)

// named finds the template of a name, the team's included.
func (o *Options) named(ctx context.Context, f *factory.Factory, name string) (*templates.Template, error) {
	return findtemplate.Find(ctx, f, name, func(ctx context.Context, c *factory.Cluster) (string, error) {
		ns, err := o.namespace(ctx, c, f.Global.Namespace, kinds.PyTorchJob.Resource)
		return ns.Name, err
	})
}

// namespace resolves the namespace once: a team's template is looked for there
// before the job is.
func (o *Options) namespace(ctx context.Context, c *factory.Cluster, name string, r kinds.Resource) (discovery.NamespaceChoice, error) {
	if o.chosen != nil {
		return *o.chosen, nil
	}
	ns, err := o.Factory.NamespaceNamed(ctx, c, name, "create", r)
	if err == nil {
		o.chosen = &ns
	}
	return ns, err
}

// repeat makes a template of an earlier job.
func (o *Options) repeat(ctx context.Context, f *factory.Factory) (*templates.Template, error) {
	t, job, err := findtemplate.OfJob(ctx, f, o.From, "", templates.Conversion{Name: o.From, Repeat: true})
	if err == nil && f.Global.Namespace == "" {
		f.Global.Namespace = job.Namespace
	}
	return t, err
}

// validateSource checks what defines the job.
func (o *Options) validateSource() error {
	if o.From != "" {
		for _, c := range [][2]string{{"--config-file", o.File}, {"--template", o.Template}, {"--job-kind", o.JobKind}, {"--recipe", o.Recipe}} {
			if c[1] != "" {
				return errs.Usagef("--from and %s both define the job: give one of them", c[0])
			}
		}
		switch {
		case o.Name == "" && o.GenerateName:
			o.Name = o.From
		case o.Name == "":
			return errs.Usagef("a repeated job needs a name of its own").WithTry("--name "+o.From+"-2", "--generate-name")
		case o.Name == o.From && !o.GenerateName:
			return errs.Usagef("a repeated job needs a name of its own, not %s again", o.From).WithTry("--name "+o.From+"-2", "--generate-name")
		}
	}
	if o.Edit && o.File == "-" {
		return errs.Usagef("--edit needs the standard input for the editor, and -f - reads the manifest from it")
	}
	if o.Edit {
		return editor.Check(o.Factory)
	}
	return nil
}
