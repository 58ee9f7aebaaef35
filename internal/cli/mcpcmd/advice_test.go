package mcpcmd

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// tool returns a tool by its name.
func tool(name string) command {
	all := commands()
	return all[slices.IndexFunc(all, func(c command) bool { return c.name == name })]
}

// TestArguments: an error about the arguments of a tool names the one that was meant, or all.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ tool, given, want string }{
		{"get_job", `{"name":"x","namespace":null}`, ""},
		{"get_job", `{"name":"x","namespac":"y"}`, `get_job has no argument "namespac"; did you mean: namespace, name; arguments: name (required), namespace, kind, verbose`},
		{"get_job", `{"nam":"x"}`, `get_job has no argument "nam"; did you mean: name`},
		{"dry_run_job", `{"node-count":1}`, `dry_run_job has no argument "node-count"; did you mean: node_count`},
		{"get_job", `{"context":"prod"}`, `get_job has no argument "context"; arguments: `},
		{"governance_audit", `{"a":1}`, `governance_audit has no argument "a"; arguments: none`},
		{"get_job", `{"` + strings.Repeat("x", 500) + `":1}`, `get_job has no argument value; arguments: `},
		{"get_job", ``, "get_job requires the argument name: name of the job; arguments: "},
		{"get_job", `{"name":null}`, "get_job requires the argument name"},
		{"get_job", `[]`, "the arguments of get_job must be a JSON object"},
		{"get_job", `null`, "get_job requires the argument name"},
		{"get_queue", `null`, ""},
		{"get_job", `{"name":1}`, "invalid name 1: must be a string"},
		{"get_job", `{"name":"x","verbose":"true"}`, `invalid verbose "true": must be true or false`},
		{"list_jobs", `{"state":"pending"}`, `invalid state "pending": must be an array of strings, such as ["a","b"]`},
		{"list_jobs", `{"state":["a",1]}`, `invalid state ["a",1]: must be an array`},
		{"get_log", `{"name":"x","tail":1.5}`, "invalid tail 1.5: must be a whole number"},
		{"get_log", `{"name":"x","tail":1e300}`, "invalid tail 1e+300: must be a whole number"},
		{"wait_job", `{"name":"x","timeout_seconds":601}`, "invalid timeout_seconds 601: must be between 0 and 600"},
		{"wait_job", `{"name":"x","for":"never"}`, `invalid for "never": must be one of admitted, running`},
		{"cancel_job", `{"name":"x","token":"y"}`, ""},
		{"get_job", `{"name":"x","token":"y"}`, `get_job has no argument "token"`},
	} {
		_, err := tool(c.tool).checked(json.RawMessage(c.given))
		got := ""
		if err != nil {
			d := errs.DocumentOf(err, false)
			got = d.Message
			for _, f := range d.Facts {
				got += "; " + f.Label + ": " + f.Text
			}
			if d.ExitCode != errs.Usage {
				t.Errorf("%s %s: exit code %d", c.tool, c.given, d.ExitCode)
			}
		}
		if (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s:\ngot  %s\nwant %s", c.tool, c.given, got, c.want)
		}
	}
}

// TestDescriptions: a description has the size of an answer and no line break, and tools that it names exist.
func TestDescriptions(t *testing.T) {
	all := commands()
	for _, c := range all {
		if !strings.Contains(c.help, " Size: ") || strings.ContainsAny(c.help, "\n\t") || len(c.help) > 450 {
			t.Errorf("%s: %s", c.name, c.help)
		}
		for word := range strings.FieldsFuncSeq(c.help, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
			known := slices.ContainsFunc(all, func(o command) bool {
				return o.name == word || slices.ContainsFunc(o.args, func(a argument) bool { return a.name == word })
			})
			if strings.Contains(word, "_") && !known {
				t.Errorf("%s: there is no %s", c.name, word)
			}
		}
	}
}

// TestAdvice: an error for a model names arguments and tools where one for a person names flags and commands. What no tool
// does is left out. What others wrote stays as it is.
func TestAdvice(t *testing.T) {
	io, _ := output.Test()
	f := &factory.Factory{IO: io, Env: func(string) string { return "" }}
	f.Global.Sandbox = factory.DefaultSandbox
	box := &toolbox{o: &Options{Factory: f, Allow: []string{"cancel"}}}
	for _, c := range []struct {
		tool string
		err  *errs.Error
		want []string
	}{
		{"list_jobs", errs.New("no namespace given", "").Suggest(errs.Option("--namespace", "NAME"), errs.Option("-A").WithNote("all namespaces")),
			[]string{`Arguments {"namespace":"NAME"}`, `Arguments {"all_namespaces":true} all namespaces`}},
		{"get_job", errs.New("no namespace given", "").Suggest(errs.Option("-A")), nil},
		{"dry_run_job", errs.New(`invalid --node-count "--node-count"`, "must be at least 1").Suggest(errs.Option("--node-count", "1"), errs.Run("start-job", "--help")),
			[]string{`invalid node_count "--node-count": must be at least 1`, `Arguments {"node_count":1}`}},
		{"dry_run_job", errs.New("", "--config-file cannot be used with --template").Suggest(errs.Run("start-job", "-f", "FILE", "-n", "x", "--sandbox")),
			[]string{"manifest cannot be used with template", `Tool dry_run_job {"manifest":"TEXT","namespace":"x"}`}},
		{"dry_run_job", errs.New("-", "line 1:1: not a map").WithFact("IMAGE", "container image (--image)").WithFact("message", "use --image"),
			[]string{"manifest: line 1:1: not a map", "IMAGE: container image (image)", "message: use --image"}},
		{"governance_plan", errs.New("- is not valid", "").WithFact("-:1:1", "wrong").Suggest(errs.Run("governance", "check", "-f", "-", "--sandbox")),
			[]string{"governance is not valid", "governance:1:1: wrong", `Tool governance_check {"governance":"TEXT"}`}},
		{"get_job", errs.New("not found", "").Suggest(errs.Run("list-jobs", "-n", "a b", "--state=Running", "--context=prod"), errs.Run("cancel-job", "x", "-n", "y"), errs.Run("cancel-job"), errs.Run("start-job", "--name", "x"), errs.Run("exec", "x", "--", "ls"), errs.Other("kubectl", "get", "pods")),
			[]string{"not found", `Tool list_jobs {"namespace":"a b","state":["Running"]}`, `Tool cancel_job {"name":"x","namespace":"y"}`}},
		{"get_capacity", errs.New("--by cannot be used with a team", "").Suggest(errs.Run("get-quota", "--by", "instance-type")), []string{"--by cannot be used with a team", `Tool get_capacity {}`}},
	} {
		line, err := output.JSONLine(errs.DocumentOf(c.err, false))
		if err != nil {
			t.Fatal(err)
		}
		var d errs.Document
		first, second, _ := strings.Cut(box.advised(tool(c.tool), "note: use --namespace, -n or get-job--namespace\n"+strings.TrimSpace(string(line))), "\n")
		if want := "note: use namespace, namespace or get-job--namespace"; first != want && !slices.Contains([]string{"governance_plan", "get_capacity"}, c.tool) {
			t.Errorf("%s: %s", c.tool, first)
		}
		if err := json.Unmarshal([]byte(second), &d); err != nil {
			t.Fatalf("%v: %s", err, second)
		}
		got := []string{d.Message}
		for _, f := range d.Facts {
			got = append(got, f.Label+": "+f.Text)
		}
		for _, s := range d.Suggestions {
			got = append(got, strings.TrimSpace(s.Kind+" "+s.Line+" "+s.Note))
		}
		want := c.want
		if len(want) == 0 || strings.HasPrefix(want[0], "Arguments") {
			want = append([]string{c.err.Error()}, want...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.tool, got, want)
		}
	}
}

// TestAdvisedNotes: command lines below a note become tools, or are left out.
func TestAdvisedNotes(t *testing.T) {
	io, _ := output.Test()
	box := &toolbox{o: &Options{Factory: &factory.Factory{IO: io, Env: func(string) string { return "" }}}}
	const notes = "warning: big can never run; still waiting\n" +
		"  try:   hyperpod start-job --from big --replace --node-count 2 -n x --sandbox\n" +
		"  try:   hyperpod explain-job big -n 'a b' --sandbox   # explains -n\n" +
		"         hyperpod list-jobs -n x"
	const want = "warning: big can never run; still waiting\n" +
		"  try:   explain_job {\"name\":\"big\",\"namespace\":\"a b\"}   # explains namespace\n" +
		"         list_jobs {\"namespace\":\"x\"}"
	if got := box.advised(tool("wait_job"), notes); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
