package mcpcmd

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestWhatTheUserAgreedTo: a token confirms a write only while its preview shows nothing worse.
func TestWhatTheUserAgreedTo(t *testing.T) {
	const admitted = `{"Verdict":"Admitted"}`
	preempts := func(names ...string) string {
		var list []string
		for _, n := range names {
			list = append(list, `{"Namespace":"a","Name":"`+n+`"}`)
		}
		return `{"Verdict":"Admitted","Quota":{"Preempts":[` + strings.Join(list, ",") + `]}}`
	}
	for _, c := range []struct{ tool, before, after, want string }{
		{"start_job", admitted, admitted, ""},
		{"start_job", `{"Verdict":"Waits"}`, admitted, ""},
		{"start_job", `{"Verdict":"Waits"}`, `{"Verdict":"Waits"}`, ""},
		{"start_job", admitted, `{"Verdict":"Waits"}`, "the answer of the admission check was Admitted, and is Waits"},
		{"start_job", `{"Verdict":"Waits"}`, `{"Verdict":"Never"}`, "was Waits, and is Never"},
		{"start_job", preempts("x", "y"), preempts("y"), ""},
		{"start_job", admitted, preempts("x"), "the job would preempt a/x, which the preview did not show"},
		{"start_job", preempts("x"), preempts("x", "y"), "the job would preempt a/y"},
		{"start_job", `{"Verdict":"Admitted","Jobs":[{}]}`, `{"Verdict":"Admitted","Jobs":[{"Preempts":[{"Namespace":"a","Workload":"w"}]}]}`, "the job would preempt a/w"},
		{"cancel_job", `{"UID":"1"}`, `{"UID":"1"}`, ""},
		{"cancel_job", `{"UID":"1"}`, `{"UID":"2"}`, "another one has its name"},
		{"cancel_job", `{"jobs":[{"Name":"j1","UID":"1"}]}`, `{"jobs":[{"Name":"j1","UID":"2"}]}`, "another one has its name"},
		{"cancel_job", `{"jobs":[{"Name":"j1","UID":"1"},{"Name":"j2","UID":"2"}]}`, `{"jobs":[{"Name":"j2","UID":"2"},{"Name":"j1","UID":"1"}]}`, ""},
		{"cancel_job", `{"jobs":[{"Name":"j1","UID":"1"}]}`, `{"jobs":[{"Name":"j1","UID":"1"},{"Name":"j2","UID":"2"}]}`, "it would affect 1 job that the preview did not show"},
		{"cancel_job", `{"jobs":[{"Name":"j1","UID":"1"},{"Name":"j2","UID":"2"}]}`, `{"jobs":[{"Name":"j1","UID":"1"},{"Name":"j3","UID":"3"}]}`, "it would affect 1 job that the preview did not show"},
		{"cancel_job", `{"jobs":[{"Name":"j1","UID":"1"}]}`, `{"jobs":[{"Name":"j1","UID":"1"},{"Name":"j2","UID":"2"},{"Name":"j3","UID":"3"}]}`, "it would affect 2 jobs that the preview did not show"},
		{"cancel_job", `{"jobs":[{"Name":"j1","UID":"1"},{"Name":"j2","UID":"2"}]}`, `{"jobs":[{"Name":"j1","UID":"1"}]}`, "1 job of the preview is gone"},
		{"cancel_job", `{"jobs":[{"Name":"j1","UID":"1"},{"Name":"j2","UID":"2"},{"Name":"j3","UID":"3"}]}`, `{"jobs":[{"Name":"j1","UID":"1"}]}`, "2 jobs of the preview are gone"},
	} {
		io, _ := output.Test()
		document, writes := c.before, 0
		run := func(_ context.Context, f *factory.Factory, args []string) errs.Exit {
			if !slices.Contains(args, "--dry-run") {
				writes++
			}
			fmt.Fprint(f.IO.Out, document)
			return errs.OK
		}
		f := &factory.Factory{IO: io, Env: func(string) string { return "" }, Now: io.Now}
		f.Global.Sandbox = factory.DefaultSandbox
		box := &toolbox{o: &Options{Factory: f, run: run}, pending: map[string]preview{}}
		arguments := map[string]any{"name": "x"}
		r, err := box.call(t.Context(), tool(c.tool), arguments)
		if err != nil || r.failed || writes > 0 {
			t.Fatalf("%+v: %v", r, err)
		}
		arguments["token"] = regexp.MustCompile(`and token (\w+)\.`).FindStringSubmatch(r.texts[0])[1]
		document = c.after
		r, err = box.call(t.Context(), tool(c.tool), arguments)
		switch {
		case err != nil:
			t.Error(err)
		case c.want == "" && (r.failed || writes != 1):
			t.Errorf("%s, %s: %d writes, %+v", c.before, c.after, writes, r)
		case c.want != "" && (!r.failed || writes != 0 || !strings.Contains(r.texts[0], c.want)):
			t.Errorf("%s, %s: %d writes, %+v", c.before, c.after, writes, r)
		}
	}
}
