package startjob

import (
	"bytes"
	"context"
	"errors"

	"github.com/hyperpod-cli/hyperpod/internal/cli/editor"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

const editHead = `What is saved is submitted. An empty file, or one without a change, submits
nothing.`

// edit shows the rendered manifest in the editor until what is saved can be
// submitted. ok is false when nothing is to be submitted. keep is the file that
// holds the edited text: it goes once the text has been submitted.
func (o *Options) edit(ctx context.Context, t *parse.Template, v values.Values, r render.Result) (_ context.Context, result render.Result, keep editor.File, ok bool, err error) {
	manifest, err := manifest.Marshal(r.Objects)
	if err != nil {
		return ctx, r, keep, false, err
	}
	if keep, err = editor.Create("hyperpod-start-job-*.yaml"); err != nil {
		return ctx, r, keep, false, err
	}
	original, last := editor.WithoutComments(manifest), []byte(nil)
	text, why := manifest, ""
	for {
		var saved []byte
		saved, ctx, err = keep.Edit(ctx, o.Factory, append(editorHead(why), text...))
		if err != nil {
			return ctx, r, keep, false, err
		}
		plain := editor.WithoutComments(saved)
		switch {
		case len(plain) == 0:
			keep.Remove()
			o.Factory.Notef("edit cancelled: the saved file is empty")
			return ctx, r, keep, false, nil
		case why != "" && bytes.Equal(plain, last):
			return ctx, r, keep, false, errs.New("edit cancelled", "the mistake is still there").WithFact("saved", keep.Path).
				WithTry("hyperpod start-job -f " + keep.Path)
		case bytes.Equal(plain, original):
			keep.Remove()
			o.Factory.Notef("edit cancelled: no changes made")
			return ctx, r, keep, false, nil
		}
		text, last = withoutHead(saved), plain
		edited, bad := o.edited(t, v, r, text)
		if bad == nil {
			return ctx, edited, keep, true, nil
		}
		// Once more, below as many lines as the message will have: its line numbers
		// are then those of the file that the editor shows.
		above := bytes.Count(editorHead(errs.Text(bad, false)), []byte("\n"))
		_, bad = o.edited(t, v, r, append(bytes.Repeat([]byte("\n"), above), text...))
		why = errs.Text(bad, false)
	}
}

// editorHead is the comment above the manifest.
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

// edited checks what was saved and makes objects of it. What the template fixes,
// and where the job runs, an editor does not change either.
func (o *Options) edited(t *parse.Template, v values.Values, before render.Result, saved []byte) (render.Result, error) {
	manifest, err := parse.Text(t.Name, "the edited manifest", saved)
	if err != nil {
		return render.Result{}, err
	}
	if ns := resolve.Namespace(manifest, values.Values{}); ns != "" && v.Namespace != "" && ns != v.Namespace {
		return render.Result{}, errs.Usagef("the edited manifest says namespace %s, and the job is checked for %s", ns, v.Namespace).
			WithTry("-n " + ns)
	}
	r, err := render.Objects(manifest, values.Values{Namespace: v.Namespace})
	if err != nil {
		return r, err
	}
	return r, render.CheckFixed(t, before, r)
}

// editAndSubmit is the end of a run with --edit.
func (o *Options) editAndSubmit(ctx context.Context, c *factory.Cluster, t *parse.Template, v values.Values, r render.Result) error {
	ctx, r, file, ok, err := o.edit(ctx, t, v, r)
	if err != nil || !ok {
		return err
	}
	err = o.finish(ctx, c, v, r)
	if err == nil {
		file.Remove()
		return nil
	}
	o.Factory.Notef("note: what you edited is in %s", file.Path)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return &errs.Error{What: "interrupted", Code: errs.Interrupted, Cause: err}
	}
	return err
}
