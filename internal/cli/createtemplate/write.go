package createtemplate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/team"
)

// write writes the text to the target of the options and returns the name of the target.
func (o *Options) write(ctx context.Context, text []byte) (string, error) {
	f := o.Factory
	dirs := f.TemplateDirs()
	if o.Team {
		c, err := f.Cluster(ctx)
		if err != nil {
			return "", err
		}
		ns, err := f.Namespace(ctx, c, "create", kinds.ConfigMap)
		if err != nil {
			return "", err
		}
		if err := team.Put(ctx, c.Client, ns.Name, o.name(), text, o.Replace); err != nil {
			return "", err
		}
		if slices.ContainsFunc(catalogue.Names(dirs), func(i parse.Info) bool { return i.Name == o.name() }) {
			f.Notef("note: another template has the name %s too: use %s for the team's", o.name(), team.Prefix+o.name())
		}
		return team.Source(ns.Name, o.name()), nil
	}
	dir := dirs.User
	if o.Project {
		dir = filepath.Join(dirs.Work, "jobs")
	}
	if dir == "" {
		return "", errs.New("no folder for templates", "neither HOME nor XDG_CONFIG_HOME is set").Suggest(errs.Option("--project"))
	}
	return o.writeFile(dir, text)
}

// writeFile writes the file. It replaces an existing file only with --replace.
func (o *Options) writeFile(dir string, text []byte) (string, error) {
	path := filepath.Join(dir, o.name()+".yaml")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", errs.New("cannot create folder "+dir, errs.FileReason(err)).WithCause(err)
	}
	for _, ext := range []string{".yaml", ".yml"} {
		have := filepath.Join(dir, o.name()+ext)
		if _, err := os.Lstat(have); err == nil && !o.Replace {
			return "", errs.New(have+" already exists", "it is not changed").Suggest(errs.Option("--replace"))
		} else if err == nil {
			path = have
		}
	}
	if o.Replace {
		_, err := atomicfile.Write(path, func(f *os.File) error {
			_, err := f.Write(text)
			return errors.Join(err, f.Chmod(0o644))
		})
		if err != nil {
			return "", cannotWrite(path, err)
		}
		return path, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", cannotWrite(path, err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(path) // the file is incomplete
		return "", cannotWrite(path, err)
	}
	return path, nil
}

func cannotWrite(path string, err error) error {
	return errs.New("cannot write "+path, errs.FileReason(err)).WithCause(err)
}
