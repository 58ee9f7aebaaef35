package createtemplate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/team"
)

// readSource reads a manifest or template.
func readSource(ctx context.Context, f *factory.Factory, name string) ([]byte, error) {
	data, err := f.ReadManifest(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errs.NotFoundf("file %s not found", name).WithCause(err)
	case err != nil && ctx.Err() == nil:
		return nil, errs.Wrap(err, "cannot read "+name)
	}
	return data, err
}

// write puts the text where the options say and returns where that is.
func (o *Options) write(ctx context.Context, text []byte) (string, error) {
	f := o.Factory
	dirs := f.TemplateDirs()
	if o.Team {
		c, err := f.Cluster()
		if err != nil {
			return "", err
		}
		ns, err := f.Namespace(ctx, c, "create", kinds.ConfigMap)
		if err != nil {
			return "", err
		}
		if err := team.Put(ctx, c.Client, ns.Name, o.Name, text, o.Replace); err != nil {
			return "", err
		}
		if slices.ContainsFunc(catalogue.Names(dirs), func(i parse.Info) bool { return i.Name == o.Name }) {
			f.Notef("note: another template is called %s as well: the team's is %s", o.Name, team.Prefix+o.Name)
		}
		return team.Source(ns.Name, o.Name), nil
	}
	dir := dirs.User
	if o.Project {
		dir = filepath.Join(dirs.Work, "jobs")
	}
	if dir == "" {
		return "", errs.New("there is no folder for templates", "neither HOME nor XDG_CONFIG_HOME is set").WithTry("--project")
	}
	return o.writeFile(dir, text)
}

// writeFile writes the file, and never over another one unless told.
func (o *Options) writeFile(dir string, text []byte) (string, error) {
	path := filepath.Join(dir, o.Name+".yaml")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", errs.Wrap(err, "cannot make the folder "+dir)
	}
	for _, ext := range []string{".yaml", ".yml"} {
		have := filepath.Join(dir, o.Name+ext)
		if _, err := os.Lstat(have); err == nil && !o.Replace {
			return "", errs.New(have+" exists already", "it is left as it is").WithTry("--replace")
		} else if err == nil {
			path = have
		}
	}
	if o.Replace {
		return path, replaceFile(dir, path, text)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", errs.Wrap(err, "cannot write "+path)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(path) // half a template helps nobody
		return "", errs.Wrap(err, "cannot write "+path)
	}
	return path, nil
}

// replaceFile puts a new file in the place of an old one at once.
func replaceFile(dir, path string, text []byte) error {
	temporary, err := os.CreateTemp(dir, ".template-*")
	if err != nil {
		return errs.Wrap(err, "cannot write "+path)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Chmod(0o644), temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errs.Wrap(err, "cannot write "+path)
	}
	return nil
}
