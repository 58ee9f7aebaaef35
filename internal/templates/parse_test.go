package templates

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

const jobHead = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      containers:\n      - name: c\n        image: i\n"

func TestParseFaults(t *testing.T) {
	long := strings.Repeat("x", manifest.MaxBytes+1)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
		"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
	for _, c := range []struct {
		name, text string
		want       []string // all in the error's text
	}{
		{"empty", "", []string{"no object"}},
		{"only a comment", "# nothing\n---\n", []string{"no object"}},
		{"too large", long, []string{"larger than 4 MiB"}},
		{"binary", "a: \x00b", []string{"not a text file"}},
		{"not UTF-8", "a: \xff", []string{"not a text file"}},
		{"scalar", "just text", []string{"a manifest must be a map"}},
		{"no kind", "apiVersion: v1\nmetadata: {name: a}", []string{"line 1", "kind is missing"}},
		{"no version", "kind: Pod", []string{"apiVersion is missing"}},
		{"duplicate key", jobHead + "        image: j\n", []string{"line 10", `"image" is given twice (first in line 9)`}},
		{"tab", "apiVersion: batch/v1\nkind: Job\nspec:\n\ttemplate: {}\n", []string{"line 4", "tab"}},
		{"alias bomb", bomb, []string{"aliases"}},
		{"alias that holds itself", "a: &a [*a]\n", []string{"contains itself"}},
		{"deep", strings.Repeat("[", 150) + strings.Repeat("]", 150), []string{"nested deeper"}},
		{"foreign tag", "apiVersion: !Ref x\nkind: Job\n", []string{"line 1", "!Ref"}},
		{"infinity", jobHead + "        args: [.inf]\n", []string{"line 10", "not a valid JSON number"}},
		{"Helm control line", "apiVersion: v1\n{{- if .Values.x }}\nkind: Pod\n{{- end }}\n", []string{"line 2", "Helm"}},
		{"Helm value", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n", []string{"line 4", "Helm"}},
		{"Helm in quotes", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: \"{{ .Release.Name }}\"\n", []string{"line 4", "Helm"}},
		{"Helm in a script", jobHead + "        args: [\"{{ .Values.script }}\"]\n", []string{"line 10", "Helm"}},
		{"Jinja", jobHead + "        # {{ fine in a comment }}\n        workingDir: '{% if x %}/a{% endif %}'\n", []string{"line 11", "Jinja"}},
		{"misspelt kind", "apiVersion: kubeflow.org/v1\nkind: PytorchJob\n", []string{"line 2", `did you mean "PyTorchJob"`}},
		{"unknown field", jobHead + "        imagePullPolice: Always\n", []string{"line 10", `no field "imagePullPolice"`, "imagePullPolicy"}},
		{"unknown job field", "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  pytorchReplicaSpec: {}\n", []string{"line 4", "pytorchReplicaSpecs"}},
		{"unknown field of a role", "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nspec:\n  mpiReplicaSpecs:\n    Worker:\n      replica: 2\n", []string{"line 6", "replicas"}},
		{"unknown HyperPod field", "apiVersion: sagemaker.amazonaws.com/v1\nkind: HyperPodPyTorchJob\nspec:\n  runPolicy: {jobMaxRetry: 1}\n", []string{"line 4", "jobMaxRetryCount"}},
		{"unknown field at the top", "apiVersion: batch/v1\nkind: Job\nspecs: {}\n", []string{"line 3", `no field "specs" at the top`, "spec"}},
		{"text where a number belongs", "apiVersion: batch/v1\nkind: Job\nspec: {parallelism: many}\n", []string{"line 3", "spec.parallelism", "whole number"}},
		{"number where text belongs", jobHead + "        workingDir: 7\n", []string{"line 10", "put it in quotes"}},
		{"not a quantity", jobHead + "        resources: {limits: {memory: 16Gigs}}\n", []string{"line 10", "16Gigs", "quantity"}},
		{"list where a map belongs", "apiVersion: batch/v1\nkind: Job\nspec: []\n", []string{"line 3", "spec is a list: must be a map"}},
		{"several faults", "apiVersion: batch/v1\nkind: Job\nspec:\n  paralelism: 1\n  completion: 2\n", []string{"2 faults", "line 4", "line 5"}},
		{"configuration file of v2", "training_cfg: {}\ncluster: {}\n", []string{"configuration file of HyperPod CLI v2"}},
		{"a placeholder for a field's name", "apiVersion: v1\nkind: Pod\nmetadata: {\"${A}\": {}}\n", []string{"line 3", `no field "${A}" in metadata`}},
		{"map as a key", "apiVersion: v1\nkind: Pod\nmetadata:\n  ? {a: b}\n  : c\n", []string{"cannot be a key"}},
		{"header with an unknown field", "parameters: {}\nhelp: x\n---\n" + jobHead, []string{`no field "help"`}},
		{"parameter with an unknown field", "parameters:\n  A: {typ: int}\n---\n" + jobHead, []string{"line 2", "type"}},
		{"parameter of an unknown type", "parameters:\n  A: {type: integer}\n---\n" + jobHead, []string{"line 2", `type "integer" not found`}},
		{"default of another type", "parameters:\n  A: {type: int, default: x}\n---\n" + jobHead, []string{"line 2", "default"}},
		{"default not in the enum", "parameters:\n  A: {enum: [a, b], default: c}\n---\n" + jobHead, []string{"line 2", "must be one of a, b"}},
		{"parameter's name", "parameters:\n  A-B: {}\n---\n" + jobHead, []string{"line 2", "A-B"}},
		{"default that is a map", "parameters:\n  A: {default: {x: 1}}\n---\n" + jobHead, []string{"line 2", "must be a single value"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse.Text("t", "t.yaml", []byte(c.text))
			if err == nil {
				t.Fatal("it was accepted")
			}
			if got := errs.ExitOf(err); got != errs.Usage {
				t.Errorf("exit code %d, want %d", got, errs.Usage)
			}
			text := errs.Text(err, false)
			for _, w := range append(c.want, "t.yaml") {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in\n%s", w, text)
				}
			}
		})
	}
}

// Names from a file reach the terminal quoted.
func TestParseQuotesControlCharacters(t *testing.T) {
	for _, text := range []string{"apiVersion: batch/v1\nkind: Job\nmetadata:\n  labels: {\"a\\e[31m\": [1]}\n", "apiVersion: batch/v1\nkind: Job\n\"\\e[31m\": 1\n", "apiVersion: batch/v1\nkind: Job\nspec: {parallelism: \"\\e[31m\"}\n"} {
		_, err := parse.Text("t", "t", []byte(text))
		if err == nil || strings.Contains(errs.Text(err, true), "\x1b") {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

func TestParseNeverShowsEnvironmentValues(t *testing.T) {
	_, err := parse.Text("t", "t", []byte(jobHead+"        env: [{name: TOKEN, value: 90210}]\n"))
	if err == nil || strings.Contains(errs.Text(err, true), "90210") {
		t.Errorf("the value is in the error: %v", err)
	}
}

func TestParseAccepts(t *testing.T) {
	for name, text := range map[string]string{
		"CRLF":                   strings.ReplaceAll(jobHead, "\n", "\r\n"),
		"byte order mark":        "\ufeff" + jobHead,
		"empty documents":        "---\n---\n" + jobHead + "---\n# end\n",
		"end marker":             jobHead + "...\n",
		"null quantity":          jobHead + "        resources: {limits: {nvidia.com/gpu: null, memory: }}\n",
		"YAML 1.1's truth words": jobHead + "        stdin: yes\n        tty: off\n",
		"tab in a script":        jobHead + "        args:\n        - |\n          a\tb\n          \tc\n",
		"braces in a script":     jobHead + "        args: [\"docker ps --format '{{.Names}}'\"]\n",
		"List":                   "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {containers: [{name: c, image: i}]}}}}\n",
		"exported object":        jobHead + "status: {active: 1}\n",
		"merge key": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      containers:\n" +
			"      - &c {name: c, image: i, stdin: true}\n      - {<<: *c, name: d}\n",
		"other kind of a known group": jobHead + "---\napiVersion: kubeflow.org/v1\nkind: MXJob\nmetadata: {name: t}\n",
		"unknown kind":                jobHead + "---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nanything: {goes: [1, 2]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRender(t, mustParse(t, text), values.Values{})
			if r.Job != 0 || r.Objects[0]["status"] != nil {
				t.Errorf("job %d, objects %v", r.Job, r.Objects)
			}
		})
	}
}

func TestNullQuantitiesAreDropped(t *testing.T) {
	r := mustRender(t, mustParse(t, jobHead+"        stdin: yes\n        resources: {limits: {nvidia.com/gpu: null, cpu: 2}}\n"), values.Values{})
	c := jobobject.Container(jobobject.Inner(r.Objects[0], "spec", "template", "spec"))
	if got := jobobject.Inner(c, "resources", "limits"); !reflect.DeepEqual(got, map[string]any{"cpu": int64(2)}) {
		t.Errorf("limits %v", got)
	}
	if c["stdin"] != true {
		t.Errorf("stdin: yes became %v", c["stdin"])
	}
}

func TestMergeKeysAndAnchors(t *testing.T) {
	docs, err := manifest.Parse([]byte("base: &b {a: 1, b: 2}\nother: &o {b: 3, c: 4}\none: {<<: *b, b: 9}\ntwo: {<<: [*b, *o]}\ndate: 2024-01-02\noctal: 0644\nbig: 18446744073709551616\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"base": map[string]any{"a": int64(1), "b": int64(2)}, "other": map[string]any{"b": int64(3), "c": int64(4)},
		"one": map[string]any{"a": int64(1), "b": int64(9)}, "two": map[string]any{"a": int64(1), "b": int64(2), "c": int64(4)},
		"date": "2024-01-02", "octal": int64(0o644), "big": 18446744073709551616.0,
	}
	if got := docs[0].Plain(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestHeader(t *testing.T) {
	document := "description: what it is\nparameters:\n  A: {type: int, default: \"3\", help: the A}\n  B:\n  C: [x, y]\n  D: {required: true, enum: [1, 2]}\n---\n" + jobHead
	comment := "# Copyright\n#\n# description: what it is\n# parameters:\n#   A: {type: int, default: \"3\", help: the A}\n#   B:\n#   C: [x, y]\n#   D: {required: true, enum: [1, 2]}\n\n" + jobHead
	for name, text := range map[string]string{"document": document, "comment": comment, "comment with CRLF": strings.ReplaceAll(comment, "\n", "\r\n")} {
		t.Run(name, func(t *testing.T) {
			tm := mustParse(t, text)
			if tm.Help != "what it is" || len(tm.Params) != 4 {
				t.Fatalf("help %q, parameters %+v", tm.Help, tm.Params)
			}
			a, _ := tm.Param("A")
			if a.Type != "int" || a.Default != int64(3) || a.Help != "the A" || !a.Declared || a.Required {
				t.Errorf("A is %+v", a)
			}
			if c, _ := tm.Param("C"); c.Type != "list" {
				t.Errorf("C is %+v", c)
			}
			if d, _ := tm.Param("D"); !d.Required || len(d.Enum) != 2 || d.Type != "string" {
				t.Errorf("D is %+v", d)
			}
		})
	}
	if tm := mustParse(t, "# parameters of the training are in train.py\n"+jobHead); len(tm.Params) != 0 {
		t.Errorf("an ordinary comment made parameters: %+v", tm.Params)
	}
}

// Lines in faults are the file's, also below a header.
func TestLinesBelowHeader(t *testing.T) {
	_, err := parse.Text("t", "t", []byte("parameters: {A: 1}\n---\napiVersion: batch/v1\nkind: Job\nspec: {x: 1}\n"))
	if err == nil || !strings.Contains(err.Error(), "line 5") {
		t.Errorf("got %v", err)
	}
	_, err = parse.Text("t", "t", []byte("#\n# parameters:\n#   A: {typ: x}\n"+jobHead))
	if err == nil || !strings.Contains(errs.Text(err, false), "line 3:7:   parameter A: no field") {
		t.Errorf("got %v", err)
	}
}

func TestManyDocuments(t *testing.T) {
	var b strings.Builder
	for i := range manifest.MaxDocs + 1 {
		fmt.Fprintf(&b, "---\nn: %d\n", i)
	}
	if _, err := manifest.Parse([]byte(b.String())); err == nil || !strings.Contains(err.Error(), "documents") {
		t.Errorf("got %v", err)
	}
}
