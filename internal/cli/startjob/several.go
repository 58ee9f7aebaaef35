package startjob

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
)

// readFolder reads the manifests of a folder as one of several documents. Each
// file is looked at alone first, so that a fault is named with its file and line.
func readFolder(dir string) (*parse.Template, error) {
	files, err := catalogue.Manifests(dir)
	if err != nil {
		return nil, errs.Wrap(err, "cannot read "+dir)
	}
	if len(files) == 0 {
		return nil, errs.NotFoundf("there is no manifest in %s", dir).WithFact("looked for", "*.yaml, *.yml, *.json")
	}
	var all bytes.Buffer
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, errs.Wrap(err, "cannot read "+name)
		}
		if _, err := parse.Text(baseName(name), name, data); err != nil {
			return nil, err
		}
		fmt.Fprintf(&all, "---\n%s\n", data)
	}
	return parse.Text(filepath.Base(filepath.Clean(dir)), dir, all.Bytes())
}

func baseName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// makeRoom deletes a job that exists already and waits until it is gone, for
// --replace. What was submitted with it goes with it.
func (o *Options) makeRoom(ctx context.Context, c *factory.Cluster, req submit.Request) error {
	if req.Job < 0 || req.DryRun {
		return nil
	}
	job := req.Objects[req.Job]
	kind, ok := kinds.JobFor(job.Resource.GroupVersion(), job.Resource.Kind)
	if !ok {
		return nil
	}
	kind.Resource = job.Resource
	found := map[string]any{}
	err := c.Get(ctx, job.Resource, req.Namespace, job.Name(), &found)
	if kube.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if req.Key != "" && kinds.Text(found, "metadata", "annotations", kinds.IdempotencyAnnotation) == req.Key {
		return nil // it is this very start's
	}
	if err := rehearse(ctx, c, req, found); err != nil {
		return errs.Wrap(err, fmt.Sprintf("job %s was not replaced", job.Name()))
	}
	uid := kinds.Text(found, "metadata", "uid")
	if err := c.Delete(ctx, job.Resource, req.Namespace, job.Name(), kube.DeleteOptions{UID: uid, Propagation: "Background"}); err != nil {
		return errs.Wrap(err, fmt.Sprintf("job %s was not replaced", job.Name()))
	}
	_, err = waitjob.Until(ctx, o.Factory, c, wait.Request{Kind: kind, Namespace: req.Namespace, Name: job.Name(), UID: uid, Goal: wait.Deleted, Timeout: o.left(), Given: o.Timeout})
	return err
}

// rehearse lets the server check what shall take the place of a job, which is
// deleted only if it is accepted. What is there until then, the job and what goes
// with it, is checked under another name.
func rehearse(ctx context.Context, c *factory.Cluster, req submit.Request, old map[string]any) error {
	annotations := map[string]string{kinds.TogetherAnnotation: kinds.Text(old, "metadata", "annotations", kinds.TogetherAnnotation)}
	goes := submit.Together(annotations)
	objects := make([]submit.Object, len(req.Objects))
	for i, o := range req.Objects {
		objects[i] = submit.Object{Resource: o.Resource, Body: runtime.DeepCopyJSON(o.Body)}
		if i == req.Job || slices.Contains(goes, submit.Ref{APIVersion: o.Resource.GroupVersion(), Kind: o.Resource.Kind, Name: o.Name()}) {
			short := o.Name()[:min(len(o.Name()), 50)] // names may be held to 63 characters
			objects[i].Body["metadata"].(map[string]any)["name"] = short + "-" + strings.ToLower(rand.Text()[:8])
		}
	}
	req.Objects, req.DryRun, req.Key = objects, true, ""
	_, err := submit.Submit(ctx, c, req)
	return err
}

// full is "kind.group/name", as kubectl names an object.
func full(object map[string]any) string {
	group, _, found := strings.Cut(kinds.Text(object, "apiVersion"), "/")
	kind := strings.ToLower(kinds.Text(object, "kind"))
	if found && group != "" {
		kind += "." + group
	}
	return kind + "/" + kinds.Text(object, "metadata", "name")
}

// report says what was done: a sentence for a job alone, else a line for each
// object, as kubectl words it.
func (o *Options) report(done submit.Result, r render.Result) error {
	out := o.Factory.IO.Out
	if len(done.Objects) == 1 && r.Job == 0 && (done.Actions[0] == submit.Created || done.Reused) {
		_, err := fmt.Fprintf(out, "Successfully created job %s\n", name(r))
		return err
	}
	for i, object := range done.Objects {
		if _, err := fmt.Fprintf(out, "%s %s\n", full(object), done.Actions[i]); err != nil {
			return err
		}
	}
	return nil
}
