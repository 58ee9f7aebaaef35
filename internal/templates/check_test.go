package templates

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// Every fault has its line and column, all at once, in every form that people's
// files have.
func TestCheckPlaces(t *testing.T) {
	text := `parameters:
  A: {type: integer}
  B: {tipe: int}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, label: {}}
spec:
  paralelism: 2
  template:
    spec:
      containers:
      - name: a
        image: i
        image: k
`
	for what, form := range map[string]func(string) string{
		"plain": func(s string) string { return s },
		"CRLF":  func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"BOM":   func(s string) string { return "\ufeff" + s },
	} {
		_, faults, _ := Check("t", "t", []byte(form(strings.Replace(text, "        image: k\n", "", 1))))
		got := fmt.Sprint(faults)
		for _, want := range []string{"{2 13 parameter A", "{3 7 parameter B", "{7 21 no field \"label\" in metadata, did you mean labels?}", "{9 3 no field \"paralelism\" in spec, did you mean parallelism?}"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %s", what, want, got)
			}
		}
		_, faults, _ = Check("t", "t", []byte(form(text)))
		if len(faults) != 1 || faults[0].Line != 15 || faults[0].Column != 9 || !strings.Contains(faults[0].Message, "given twice (first in line 14)") {
			t.Errorf("%s: a key twice: %+v", what, faults)
		}
	}
}

func TestCheck(t *testing.T) {
	job := func(container string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [" + container + "]\n"
	}
	many := "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
	for i := range 60 {
		many += fmt.Sprintf("  - {name: c%d, imag: i}\n", i)
	}
	for what, c := range map[string]struct {
		text  string
		want  string
		count int
	}{
		"fine":               {job("{name: a, image: i}"), "", 0},
		"placeholders":       {"parameters: {N: {type: int, required: true}}\n---\n" + job("{name: a, image: $IMAGE, resources: {limits: {cpu: $N, memory: $M}}}"), "", 0},
		"only in rendering":  {job("{name: a}"), "has no image", 1},
		"quantity":           {job("{name: a, image: i, resources: {limits: {cpu: lots}}}"), "want a quantity", 1},
		"default of a type":  {"parameters: {N: {type: int, default: x}}\n---\n" + job("{name: a, image: i}"), "default is wrong", 1},
		"bad default inside": {"parameters: {N: {default: 0x}}\n---\n" + job("{name: a, image: i, resources: {limits: {cpu: $N}}}"), "want a quantity", 1},
		"a merge":            {"a: &a {name: a, image: i}\n---\n" + job("{<<: *a}"), "apiVersion is missing", 1},
		"merged":             {strings.Replace(job("{<<: *m, image: j}"), "metadata: {name: j}", "metadata: {name: j, annotations: &n {}}", 1), "stands for nothing", 1},
		"tab":                {"apiVersion: v1\nkind: Pod\n\tmetadata: {}\n", "a tab", 1},
		"jinja":              {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ name }}\n", "Helm or Jinja", 1},
		"jinja block":        {"{% for i in x %}\nkind: Pod\n{% endfor %}\n", "Helm or Jinja", 1},
		"two jobs":           {job("{name: a, image: i}") + "---\n" + job("{name: b, image: i}"), "2 jobs", 1},
		"large":              {job("{name: a, image: i}") + "# " + strings.Repeat("x", 5<<20), "larger than", 1},
		"not text":           {"\xff\xfe\x00", "not a text file", 1},
		"empty":              {"", "no object", 1},
		"sixty":              {many, "imag", 60},
	} {
		_, faults, _ := Check("t", "t.yaml", []byte(c.text))
		if len(faults) != c.count && !(c.count == 1 && len(faults) > 0) || c.want != "" && !strings.Contains(fmt.Sprint(faults), c.want) {
			t.Errorf("%s: %+v", what, faults)
		}
	}
	_, _, notes := Check("t", "t", []byte("parameters: {UNUSED: 1, INSTANCE_TYPE: {type: string}}\n---\n"+job("{name: a, image: i}")))
	if len(notes) != 1 || !strings.Contains(notes[0], "UNUSED") {
		t.Errorf("notes %q", notes)
	}
}

// The embedded templates are free of faults.
func TestCheckEmbedded(t *testing.T) {
	for _, name := range embeddedNames(t) {
		if _, faults, notes := Check(name, "embedded", mustFind(t, name).Text); len(faults)+len(notes) > 0 {
			t.Errorf("%s: %+v, %q", name, faults, notes)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	tm := mustFind(b, "mpi")
	for b.Loop() {
		if _, faults, _ := Check("mpi", "mpi", tm.Text); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

// Everything that is wrong with the finished job is said at once, with the line that
// says it.
func TestEveryFaultOfAJob(t *testing.T) {
	text := "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata:\n  name: 1st\nspec:\n  pytorchReplicaSpecs:\n    Worker:\n      replicas: 0\n      restartPolicy: Sometimes\n      template:\n        spec:\n          containers:\n" +
		"          - name: train\n            image: \"a b\"\n            imagePullPolicy: Never\n            resources:\n              requests: {nvidia.com/gpu: 1}\n              limits:\n                nvidia.com/gpu: 2\n          - name: side\n"
	_, faults, _ := Check("t", "t.yaml", []byte(text))
	var got []string
	for _, f := range faults {
		got = append(got, fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.Message))
	}
	want := []string{`8:7: Worker has 0 replicas`, `9:7: restart policy "Sometimes"`, `12:11: no container of Worker is named pytorch`, `14:13: "a b" cannot be an image`,
		`19:17: train of Worker: nvidia.com/gpu counts devices`, `20:13: container side of Worker has no image`}
	if len(got) != len(want) {
		t.Fatalf("faults:\n%s", strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
	// Submitting it says the same.
	tm := mustParse(t, text)
	_, err := tm.Render(Values{})
	said := errs.Text(err, false)
	if errs.ExitOf(err) != errs.Usage || !strings.Contains(said, "this PyTorchJob has 7 faults") || !strings.Contains(said, `"1st" cannot be the name`) || !strings.Contains(said, "--image IMAGE") {
		t.Errorf("%s", said)
	}
	if fs := FaultsOf(err); len(fs) != 7 || fs[0].Line != 0 {
		t.Errorf("without the template: %+v", fs)
	}
}

// A ${NAME:-DEFAULT} of a script that stays though a parameter has its name is noted.
func TestShellsOwnNoted(t *testing.T) {
	text := strings.Replace(jobHead, "image: i\n", "image: i:$TAG\n        command: [sh, -c, 'echo ${TAG:-1} ${HOME:-/}']\n", 1)
	if _, faults, notes := Check("t", "t", []byte(text)); len(faults) > 0 || len(notes) != 1 || !strings.HasPrefix(notes[0], "${TAG:-1} stays as it is in spec.template.spec.containers[0].command[2]") {
		t.Errorf("faults %v, notes %q", faults, notes)
	}
	text = strings.Replace(text, "        command", "        env: [{name: TAG, value: $TAG}]\n        command", 1)
	if _, faults, notes := Check("t", "t", []byte(text)); len(faults)+len(notes) > 0 {
		t.Errorf("faults %v, notes %q", faults, notes)
	}
}
