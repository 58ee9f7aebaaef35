package templates

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// FuzzParse: no text makes the parser, or the rendering of what it accepted,
// panic; every error is one of ours; and what is rendered can be written and
// read again as the same objects.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/manifests/*.yaml")
	more, _ := filepath.Glob("catalogue/embedded/*.yaml")
	for _, path := range append(files, more...) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("a: &a [*a]\n<<: *a\n"))
	f.Add([]byte("# parameters:\n#   A: {type: list, default: [1]}\n" + jobHead + "        args: [$A, $B]\n"))
	f.Add([]byte("--- # header\nparameters: {A: 1.10}\n...\n--- {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${n:-a}\"}}\n"))
	f.Add([]byte("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec: {pytorchReplicaSpecs: {Worker: {template: {spec: {containers: [~, {}, 5]}}}}}\n"))
	v := values.Values{Name: "d", Image: "i", InstanceType: "p5.48xlarge", NodeCount: values.Int(2), Queue: "q", Namespace: "n", EntryScript: "t.py",
		PreScript: []string{"a"}, Environment: map[string]string{"A": "b"}, HealthAffinity: yes(), DeepHealthOnly: true, RestartPolicy: "OnFailure",
		Volumes: []values.Volume{{Name: "v", Type: values.EmptyDir, MountPath: "/v"}}, LabelSelector: values.Selector{Preferred: map[string][]string{"a": {"b"}}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		tm, err := parse.Text("f", "f.yaml", data)
		_, faults, _ := render.Check("f", "f.yaml", data)
		if err != nil {
			ours(t, err)
			if len(faults) == 0 {
				t.Fatalf("no fault of a broken template: %v", err)
			}
			return
		}
		if !slices.IsSortedFunc(faults, func(a, b parse.Fault) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) }) || len(slices.Compact(slices.Clone(faults))) != len(faults) {
			t.Fatalf("faults %+v", faults)
		}
		// Another header leaves the objects as they are.
		again, err := tm.With(parse.Change{Help: "again"})
		if err != nil {
			t.Fatalf("another header: %v", errs.Text(err, true))
		}
		if before, after := objectsOf(tm), objectsOf(again); !reflect.DeepEqual(before, after) {
			t.Fatalf("another header changes the objects:\n%v\n%v", before, after)
		}
		for _, values := range []values.Values{v, {Name: "d"}, {}} {
			r, err := render.Objects(tm, values)
			if err != nil {
				ours(t, err)
				continue
			}
			text, err := manifest.Marshal(r.Objects)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := manifest.Parse(text)
			if err != nil {
				t.Fatalf("what was written cannot be read: %v\n%s", err, text)
			}
			for i, d := range docs {
				if got := d.Plain(); !reflect.DeepEqual(got, any(r.Objects[i])) {
					t.Fatalf("read back differently:\n%v\n%v", got, r.Objects[i])
				}
			}
		}
	})
}

func objectsOf(t *parse.Template) []any {
	out := make([]any, len(t.Docs))
	for i, d := range t.Docs {
		out[i] = d.Plain()
	}
	return out
}

func ours(t *testing.T, err error) {
	t.Helper()
	var e *errs.Error
	if !errors.As(err, &e) || e.Error() == "" || errs.Text(err, true) == "" {
		t.Errorf("not an error for people: %#v", err)
	}
}

// paths lists where an object has values, without the values. Items of lists
// count as one.
func paths(v any, at string, out []string) []string {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range manifest.SortedKeys(v) {
			out = paths(v[k], at+"/"+k, out)
		}
		return out
	case []any:
		for _, item := range v {
			out = paths(item, at+"[]", out)
		}
		return out
	}
	return append(out, at)
}

// FuzzFill: whatever a parameter's value is, the rendered objects have the same
// fields as with a harmless value, and no more items than the list has.
func FuzzFill(f *testing.F) {
	text := "parameters: {TEXT: {type: string, required: true}, LIST: {type: list}}\n---\n" +
		"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nplain: $TEXT\nquoted: \"$TEXT\"\nfree: $FREE\ninside: \"a $TEXT b ${FREE}\"\nblock: |\n  x: ${TEXT}\n  y\nlist: [1, $LIST]\nitem: [$TEXT, $FREE]\nenv: [{name: A, value: $TEXT}]\n"
	tm, err := parse.Text("t", "t", []byte(text))
	if err != nil {
		f.Fatal(err)
	}
	shape := func(t *testing.T, value, free string, words int) []string {
		list := make([]any, words)
		for i := range list {
			list[i] = value
		}
		r, err := render.Objects(tm, values.Values{Params: map[string]any{"TEXT": value, "FREE": free, "LIST": list}})
		if err != nil {
			ours(t, err)
			return nil
		}
		o := r.Objects[0]
		if got := o["plain"]; got != any(value) {
			t.Errorf("plain is %#v, want the text %q", got, value)
		}
		return paths(o, "", nil)
	}
	for _, s := range []string{"x", "a: b", "x\ninjected: true", "- a", "{a: b}", "[1]", "$TEXT", "${LIST}", "$$", "true", "null", "*a", "&a x", "!!map {}", "\x00", "\"", "'", "#", "|\n", "---\nkind: Pod", "\ufeff", "{{ x }}"} {
		f.Add(s, s, 2)
	}
	f.Fuzz(func(t *testing.T, value, free string, words int) {
		words &= 7
		got, want := shape(t, value, free, words), shape(t, "x", "y", words)
		if got != nil && !slices.Equal(got, want) {
			t.Errorf("%q and %q change the fields:\n%v\n%v", value, free, got, want)
		}
	})
}

// FuzzFlags: the values of flags are understood or refused, and never panic.
func FuzzFlags(f *testing.F) {
	for _, s := range []string{"a=b", `a["b.c"][0].d=[1]`, "a:/b:/c", "name=a,type=pvc,claim_name=c,mount_path=/x", `{"required": {"a": ["b"]}}`, "a 'b c' \"d\"", "c:/m:ro,d:/n", "k=v:NoExecute:30", "*", "A=s:k", "7d12h", "90m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if a, err := fieldpath.ParseAssignment(s); err != nil {
			ours(t, err)
		} else if v, err := plain(a); err != nil {
			ours(t, err)
		} else if err := fieldpath.Set(map[string]any{"a": []any{map[string]any{}}}, a.Key, v); err != nil {
			ours(t, err)
		}
		if vs, err := values.ParseVolumes([]string{s}, nil); err == nil {
			for _, v := range vs {
				if !strings.HasPrefix(v.MountPath, "/") || v.VolumeName() == "" {
					t.Errorf("%q made %+v", s, v)
				}
			}
		}
		_, _ = values.ParseVolumes(nil, []string{s})
		_, _ = values.ParseSelector(s)
		if _, err := values.ParseToleration(s); err != nil {
			ours(t, err)
		}
		if _, err := values.ParseSecretEnv(s); err != nil {
			ours(t, err)
		}
		if n, err := values.ParseSeconds("ttl", s); err != nil {
			ours(t, err)
		} else if *n < 0 {
			t.Errorf("%q is %d seconds", s, *n)
		}
		_, _ = values.ParseEnvironment([]string{s})
		if words, err := shellwords.Split(s); err == nil && strings.Trim(s, " \t\n") == "" && len(words) > 0 {
			t.Errorf("blanks made words %q", words)
		}
	})
}
