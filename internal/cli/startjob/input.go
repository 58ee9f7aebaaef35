package startjob

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podcopy"
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
	var err error
	if r.options.UploadPVC != "" {
		r.claimed, err = factory.Interruptible(ctx, func() (*claimed, error) { return list(r.options.Upload) })
		return err
	}
	code, err := factory.Interruptible(ctx, func() (upload.Files, error) { return collect(r.options.Upload) })
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

// secretNames returns the variables whose names suggest secrets.
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
	root, err := openUpload(dir)
	if err != nil {
		return upload.Files{}, err
	}
	defer root.Close()
	files, err := upload.Collect(root)
	return files, uploadError(dir, err, upload.MaxBytes, upload.MaxFiles)
}

// uploadError words why a folder cannot be uploaded.
func uploadError(dir string, err error, maxBytes int64, maxFiles int) error {
	what := "cannot upload " + dir
	var large *upload.TooLargeError
	var secrets *upload.SecretsError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &secrets):
		e := errs.Usagef("%s: it has files that may hold secrets", what).WithCause(err)
		e.WithFact("files", words.Some(secrets.Paths, 10))
		return e.WithAdvice("list them in .gitignore; give the pods secrets with --environment-from-secret")
	case errors.As(err, &large):
		e := errs.Usagef("%s: %s in %s; at most %s in %d files are possible", what, podcopy.Size(large.Bytes), words.Count(large.Files, "file", "files"), podcopy.Size(maxBytes), maxFiles)
		e.WithFact("largest", strings.Join(large.Largest, ", ")).WithCause(err)
		e.WithAdvice("list data in .gitignore, or put large files into the image or a volume")
		if maxBytes == upload.MaxBytes && large.Bytes <= upload.MaxClaimBytes && large.Files <= upload.MaxClaimFiles {
			e.Suggest(errs.Option("--upload-pvc", "CLAIM").WithNote("copies the files to a PersistentVolumeClaim"))
		}
		return e
	case errors.Is(err, upload.ErrNothing):
		return errs.Usagef("%s: the folder has no files to upload", what).WithCause(err)
	}
	return errs.New(what, podcopy.Reason(err)).WithCode(errs.Usage).WithCause(err)
}

// attach adds to the objects of a job what the template does not have: the record of its
// parameters, and the files of --upload, as a ConfigMap before it.
func (r *run) attach(result *render.Result) error {
	if result.Job >= 0 && result.Origin != "" {
		jobobject.MergeText(jobobject.Inner(result.Objects[result.Job], "metadata"), "annotations", map[string]string{kinds.ParametersAnnotation: result.Origin})
	}
	if r.code == nil && r.claimed == nil {
		return nil
	}
	o := r.options
	if result.Job < 0 {
		return errs.Usagef("--upload cannot be used with the manifest: it has no job").WithAdvice("leave --upload out")
	}
	var made upload.Attached
	var note string
	var links []string
	var err error
	if r.claimed != nil {
		made, note, err = r.attachClaim(result.Objects[result.Job])
		links = r.claimed.Links
	} else {
		made, err = r.code.Attach(result.Objects[result.Job], o.UploadTo)
		note = fmt.Sprintf("--upload: the pods find %s (%s) of %s in %s, read-only", words.Count(len(r.code.Files), "file", "files"), podcopy.Size(r.code.Bytes), o.Upload, o.UploadTo)
		links = r.code.Links
	}
	if err != nil {
		return errs.New("cannot upload "+o.Upload, err.Error()).WithCode(errs.Usage).WithCause(err)
	}
	var objects []map[string]any
	if made.ConfigMap != nil {
		objects = append(objects, made.ConfigMap)
	}
	at := result.Job
	for i, object := range result.Objects {
		if i == result.Job {
			at = len(objects)
		} else if made.Replaces != "" && kinds.Text(object, "kind") == "ConfigMap" && kinds.Text(object, "metadata", "name") == made.Replaces {
			continue // of the job that this one repeats
		}
		objects = append(objects, object)
	}
	result.Objects, result.Job = objects, at
	switch {
	case made.Kept == 0:
		note += "; the containers start there"
	case made.Started == 0:
		note += "; the containers start where the manifest says"
	}
	result.Notices = append(result.Notices, note)
	if n := len(links); n > 0 {
		result.Notices = append(result.Notices, fmt.Sprintf("--upload left out %s: %s", words.Count(n, "link", "links"), words.Clip(strings.Join(links, ", "), 100)))
	}
	return nil
}
