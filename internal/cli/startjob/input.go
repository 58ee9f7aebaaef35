package startjob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/secret"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/upload"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// readInput reads what --env-file and --upload name, before anything else: a mistake
// there should not cost a request.
func (r *run) readInput(ctx context.Context) error {
	for _, file := range r.options.EnvFile {
		data, err := r.factory.ReadNamed(ctx, file)
		if err != nil {
			return err
		}
		more, err := values.ParseEnvFile(file, data, os.LookupEnv)
		if err != nil {
			return err
		}
		r.env = merged(r.env, more)
	}
	if names := secretNames(r.env); len(names) > 0 {
		r.factory.Notef("warning: everyone who can read the job can read %s; use --environment-from-secret", words.Clip(strings.Join(names, ", "), 100))
	}
	if r.options.Upload == "" {
		return nil
	}
	code, err := collect(r.options.Upload)
	r.code = &code
	return err
}

// merged overrides variables with others.
func merged(below, above map[string]string) map[string]string {
	out := maps.Clone(below)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, above)
	return out
}

// secretNames are the variables whose names suggest secrets.
func secretNames(env map[string]string) []string {
	return slices.Sorted(func(yield func(string) bool) {
		for name := range env {
			if secret.Name(name) && !yield(name) {
				return
			}
		}
	})
}

// collect reads the folder of --upload.
func collect(dir string) (upload.Files, error) {
	what := "cannot upload " + dir
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return upload.Files{}, errs.NotFoundf("%s: no such folder", what).WithCause(err)
	}
	if err != nil {
		return upload.Files{}, errs.New(what, errs.FileReason(err)).WithCode(errs.Usage).WithCause(err)
	}
	defer root.Close()
	files, err := upload.Collect(root)
	var large *upload.TooLargeError
	var secrets *upload.SecretsError
	switch {
	case err == nil:
		return files, nil
	case errors.As(err, &secrets):
		e := errs.Usagef("%s: it has files that may hold secrets", what).WithCause(err)
		for _, p := range secrets.Paths[:min(len(secrets.Paths), 10)] {
			e.WithFact("file", p)
		}
		return files, e.WithAdvice("list them in .gitignore; give the pods secrets with --environment-from-secret")
	case errors.As(err, &large):
		e := errs.Usagef("%s: %s in %s; at most %s in %d files are possible", what, bytesText(large.Bytes), words.Count(large.Files, "file", "files"), bytesText(upload.MaxBytes), upload.MaxFiles)
		e.WithFact("largest", strings.Join(large.Largest, ", ")).WithCause(err)
		return files, e.WithAdvice("list data in .gitignore; put large files into the image or a volume (--persistent-volume-claims)")
	case errors.Is(err, upload.ErrNothing):
		return files, errs.Usagef("%s: the folder has no files to upload", what).WithCause(err)
	}
	return files, errs.New(what, errs.FileReason(err)).WithCode(errs.Usage).WithCause(err)
}

func bytesText(n int64) string { return words.Number("memory", float64(n)) }

// attach adds to the objects of a job what the template does not have: the record of its
// parameters, and the files of --upload, as a ConfigMap before it.
func (r *run) attach(result *render.Result) error {
	if result.Job >= 0 && result.Origin != "" {
		jobobject.MergeText(jobobject.Inner(result.Objects[result.Job], "metadata"), "annotations", map[string]string{kinds.ParametersAnnotation: result.Origin})
	}
	if r.code == nil {
		return nil
	}
	o := r.options
	if result.Job < 0 {
		return errs.Usagef("--upload cannot be used with the manifest: it has no job").WithAdvice("leave --upload out")
	}
	made, err := r.code.Attach(result.Objects[result.Job], o.UploadTo)
	if err != nil {
		return errs.New("cannot upload "+o.Upload, err.Error()).WithCode(errs.Usage).WithCause(err)
	}
	objects := []map[string]any{made.ConfigMap}
	for i, object := range result.Objects {
		if i == result.Job {
			result.Job = len(objects)
		} else if made.Replaces != "" && kinds.Text(object, "kind") == "ConfigMap" && kinds.Text(object, "metadata", "name") == made.Replaces {
			continue // of the job that this one repeats
		}
		objects = append(objects, object)
	}
	result.Objects = objects
	note := fmt.Sprintf("--upload: the pods find %s (%s) of %s in %s, read-only", words.Count(len(r.code.Files), "file", "files"), bytesText(r.code.Bytes), o.Upload, o.UploadTo)
	switch {
	case made.Kept == 0:
		note += "; the containers start there"
	case made.Started == 0:
		note += "; the containers start where the manifest says"
	}
	result.Notices = append(result.Notices, note)
	if n := len(r.code.Links); n > 0 {
		result.Notices = append(result.Notices, fmt.Sprintf("--upload left out %s: %s", words.Count(n, "link", "links"), words.Clip(strings.Join(r.code.Links, ", "), 100)))
	}
	return nil
}
