package startjob

import (
	"bytes"
	"context"
	"errors"

	"github.com/hyperpod-cli/hyperpod/internal/cli/editor"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

const editHead = `Save the file to submit it. An empty or unchanged file submits nothing.`

// edit shows the rendered manifest in the editor until the saved text is valid. ok is false if there is nothing to submit.
// keep is the file with the edited text; the caller removes it once the text is submitted.
func (r *run) edit(ctx context.Context, t *parse.Template, v values.Values, rendered render.Result) (_ context.Context, result render.Result, keep editor.File, ok bool, err error) {
	manifest, err := manifest.Marshal(rendered.Objects)
	if err != nil {
		return ctx, rendered, keep, false, err
	}
	if keep, err = editor.Create("hyperpod-start-job-*.yaml"); err != nil {
		return ctx, rendered, keep, false, err
	}
	original, last := editor.WithoutComments(manifest), []byte(nil)
	text, why := manifest, ""
	for {
		var saved []byte
		saved, ctx, err = keep.Edit(ctx, r.factory, append(editorHead(why), text...))
		if err != nil {
			return ctx, rendered, keep, false, err
		}
		plain := editor.WithoutComments(saved)
		switch {
		case len(plain) == 0:
			keep.Remove()
			r.factory.Notef("edit cancelled: the saved file is empty")
			return ctx, rendered, keep, false, nil
		case why != "" && bytes.Equal(plain, last):
			return ctx, rendered, keep, false, errs.New("edit cancelled", "the fault is still there").WithFact("saved", keep.Path).
				Suggest(errs.Run("start-job", "-f", keep.Path))
		case bytes.Equal(plain, original):
			keep.Remove()
			r.factory.Notef("edit cancelled: no changes made")
			return ctx, rendered, keep, false, nil
		}
		text, last = withoutHead(saved), plain
		changed, bad := edited(t, v, rendered, text)
		if bad == nil {
			return ctx, changed, keep, true, nil
		}
		// Check again below as many lines as the message has: its line numbers then match the file in the editor.
		above := bytes.Count(editorHead(errs.Text(bad, false)), []byte("\n"))
		_, bad = edited(t, v, rendered, append(bytes.Repeat([]byte("\n"), above), text...))
		why = errs.Text(bad, false)
	}
}

// editorHead returns the comment above the manifest. why is the fault of the text, or empty.
func editorHead(why string) []byte {
	head := append(editor.Comment(editHead), '#', '\n')
	if why != "" {
		head = append(head, append(editor.Comment(why), '#', '\n')...)
	}
	return head
}

// withoutHead drops the comment lines at the top.
func withoutHead(text []byte) []byte {
	for len(text) > 0 && text[0] == '#' {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text
}

// edited parses and checks the saved text. The editor cannot change what the template fixes, nor the namespace.
func edited(t *parse.Template, v values.Values, before render.Result, saved []byte) (render.Result, error) {
	manifest, err := parse.TextAllowing(t.Name, "the edited manifest", saved, t.Allow)
	if err != nil {
		return render.Result{}, err
	}
	if ns := resolve.Namespace(manifest, values.Values{}); ns != "" && v.Namespace != "" && ns != v.Namespace {
		return render.Result{}, errs.Usagef("the edited manifest has namespace %s, but the job was prepared for %s", ns, v.Namespace).
			Suggest(errs.Option("-n", ns))
	}
	manifest.Verbatim = t.Verbatim
	r, err := render.Objects(manifest, values.Values{Namespace: v.Namespace, AllowUnset: v.AllowUnset})
	if err != nil {
		return r, err
	}
	return r, render.CheckFixed(t, before, r)
}

// editAndFinish lets the user edit the manifest and finishes the run with it.
func (r *run) editAndFinish(ctx context.Context, t *parse.Template, v values.Values, rendered render.Result) error {
	ctx, result, file, ok, err := r.edit(ctx, t, v, rendered)
	if err != nil || !ok {
		return err
	}
	if err = r.finish(ctx, job{Result: result, namespace: v.Namespace}); err == nil {
		file.Remove()
		return nil
	}
	r.factory.Notef("note: the edited manifest is saved in %s", file.Path)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return &errs.Error{What: "interrupted", Code: errs.Interrupted, Cause: err}
	}
	return err
}
