package startjob

import (
	"cmp"
	"context"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/editor"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/convert"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// named finds the template of a name, the team's included.
func (o *Options) named(ctx context.Context, f *factory.Factory, name string) (*parse.Template, error) {
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

// repeat makes a template of an earlier job. It is started in the job's own
// namespace unless another is given.
func (o *Options) repeat(ctx context.Context, f *factory.Factory) (*parse.Template, error) {
	namespace, name := o.repeated()
	c, err := f.Cluster()
	if err != nil {
		return nil, err
	}
	job, err := findjob.FindIn(ctx, f, c, cmp.Or(namespace, f.Global.Namespace), "get", name, "")
	if err != nil {
		return nil, err
	}
	t, notes, err := findtemplate.FromJob(ctx, c, job, convert.Conversion{Name: name, Source: "job " + o.From, Repeat: true})
	if err != nil {
		return nil, err
	}
	f.Notes(notes)
	if f.Global.Namespace == "" {
		f.Global.Namespace = job.Namespace
	}
	if goes := submit.Together(annotations(job.Object)); o.Replace && o.Name == name && f.Global.Namespace == job.Namespace && len(goes) > 0 {
		e := errs.New("job "+name+" cannot be replaced from itself", "what was submitted with it would go with it")
		for _, r := range goes {
			e.WithFact("goes", r.String())
		}
		return nil, e.WithTry("hyperpod start-job -f MANIFEST --replace", "hyperpod start-job --from "+o.From+" --name "+name+"-2")
	}
	return t, nil
}

// repeated is the job that --from names.
func (o *Options) repeated() (namespace, name string) {
	if namespace, name, ok := strings.Cut(o.From, "/"); ok {
		return namespace, name
	}
	return "", o.From
}

func annotations(object map[string]any) map[string]string {
	return map[string]string{kinds.TogetherAnnotation: kinds.Text(object, "metadata", "annotations", kinds.TogetherAnnotation)}
}

// twoSources is the error about two flags that each define the job.
func twoSources(a, b string) error {
	value := map[string]string{"--config-file": "FILE", "--recipe": "FILE", "--job-kind": "KIND"}
	return errs.Usagef("%s and %s both define the job: give one of them", a, b).
		WithTry(a+" "+cmp.Or(value[a], "NAME"), b+" "+cmp.Or(value[b], "NAME"))
}

// validateSource checks what defines the job.
func (o *Options) validateSource() error {
	if o.From != "" {
		for _, c := range [][2]string{{"--config-file", o.File}, {"--template", o.Template}, {"--job-kind", o.JobKind}, {"--recipe", o.Recipe}} {
			if c[1] != "" {
				return twoSources("--from", c[0])
			}
		}
		namespace, name := o.repeated()
		elsewhere := namespace != "" && o.Factory.Global.Namespace != "" && namespace != o.Factory.Global.Namespace
		own := errs.Usagef("a repeated job needs a name of its own").WithTry("--name "+name+"-2", "--generate-name", "--replace   # puts it in the place of "+name)
		switch {
		case name == "" || strings.Contains(name, "/"):
			return errs.Usagef("--from %q names no job", o.From).WithTry("--from NAME", "--from NAMESPACE/NAME")
		case o.Name == "" && (o.GenerateName || o.Replace || elsewhere):
			o.Name = name
		case o.Name == "":
			return own
		case o.Name == name && !o.GenerateName && !o.Replace && !elsewhere:
			own.What = "a repeated job needs a name of its own, not " + name + " again"
			return own
		}
	}
	if o.Edit && o.File == "-" {
		return errs.Usagef("--edit needs the standard input for the editor, and -f - reads the manifest from it").WithTry("-f FILE --edit")
	}
	if o.Edit {
		return editor.Check(o.Factory)
	}
	return nil
}
