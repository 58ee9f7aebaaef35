package templates

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFindOrder(t *testing.T) {
	work, user := t.TempDir(), t.TempDir()
	d := Dirs{Work: work, User: user}
	find := func(name, source string) {
		t.Helper()
		tm, err := Find(name, d)
		if err != nil {
			t.Fatal(errs.Text(err, true))
		}
		if tm.Source != source || tm.Name != baseName(name) {
			t.Errorf("Find(%q) is %s from %s, want %s", name, tm.Name, tm.Source, source)
		}
	}
	find("pytorch", Embedded)
	write(t, filepath.Join(user, "pytorch.yaml"), jobHead)
	find("pytorch", filepath.Join(user, "pytorch.yaml"))
	write(t, filepath.Join(work, "jobs", "pytorch.yml"), jobHead)
	find("pytorch", filepath.Join("jobs", "pytorch.yml"))
	write(t, filepath.Join(work, "pytorch.yaml"), jobHead)
	find("pytorch", "pytorch.yaml")
	find("pytorch.yaml", "pytorch.yaml")
	find("./jobs/pytorch.yml", "./jobs/pytorch.yml")
	find(filepath.Join(user, "pytorch.yaml"), filepath.Join(user, "pytorch.yaml"))
	find("smpv2-llama2", Embedded)
}

func TestFindErrors(t *testing.T) {
	work := t.TempDir()
	write(t, filepath.Join(work, "broken.yaml"), "kind: [\n")
	write(t, filepath.Join(work, "folder.yaml", "x"), "")
	d := Dirs{Work: work}
	for name, want := range map[string]struct {
		code errs.Exit
		text string
	}{
		"pytorhc":       {errs.NotFound, "did you mean pytorch"},
		"nothing-like":  {errs.NotFound, "there are:  accelerate, ddp-cpu, "},
		"missing.yaml":  {errs.NotFound, "there is no file missing.yaml"},
		"broken":        {errs.Usage, "broken.yaml"},
		"folder.yaml":   {errs.Failure, "folder"},
		"../pytorch":    {errs.NotFound, "there is no file"},
		"..\\x\ninject": {errs.NotFound, "there is no template"},
	} {
		_, err := Find(name, d)
		if errs.ExitOf(err) != want.code || !strings.Contains(errs.Text(err, false), want.text) {
			t.Errorf("%q: exit %d\n%s", name, errs.ExitOf(err), errs.Text(err, false))
		}
	}
}

func TestNames(t *testing.T) {
	work, user := t.TempDir(), t.TempDir()
	write(t, filepath.Join(work, "jobs", "nightly.yaml"), "description: every night\nparameters: {}\n---\n"+jobHead)
	write(t, filepath.Join(work, "values.yaml"), "replicas: 3\n")
	write(t, filepath.Join(user, "mpi.yaml"), jobHead)
	got := Names(Dirs{Work: work, User: user})
	var names []string
	for _, i := range got {
		names = append(names, i.Name)
	}
	want := append(slices.Clone(embeddedNames), "nightly")
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Fatalf("names %v", names)
	}
	mpi, nightly, pytorch := got[slices.Index(names, "mpi")], got[slices.Index(names, "nightly")], got[slices.Index(names, "pytorch")]
	if mpi.Source == Embedded || nightly.Help != "every night" || !slices.Equal(nightly.Kinds, []string{"Job"}) || !slices.Equal(pytorch.Kinds, []string{"PyTorchJob"}) {
		t.Errorf("got %+v", got)
	}
}

var embeddedNames = []string{"accelerate", "ddp-cpu", "fsdp-llama", "fsdp-llama-etcd", "hyperpod-pytorch", "mpi", "nccl-tests", "neuron-llama", "pytorch", "smpv2-llama2"}

// Every embedded template says what it is for, every parameter what it does,
// and the file parses for tools that know nothing of templates.
func TestEmbeddedTemplates(t *testing.T) {
	infos := Names(Dirs{})
	var names []string
	for _, i := range infos {
		names = append(names, i.Name)
	}
	if !slices.Equal(names, embeddedNames) {
		t.Fatalf("embedded templates %v", names)
	}
	for _, i := range infos {
		tm := mustFind(t, i.Name)
		if tm.Help == "" {
			t.Errorf("%s has no help", i.Name)
		}
		for _, p := range tm.Params {
			if p.Help == "" || !p.Declared || p.Type == "" {
				t.Errorf("%s: parameter %+v has no help, type or declaration", i.Name, p)
			}
			if !slices.Contains(tm.mentioned, p.Name) && p.Name != pInstanceType && p.Name != pTasks {
				t.Errorf("%s: parameter %s is nowhere used", i.Name, p.Name)
			}
		}
	}
}

// The sample runs with nothing but its name.
func TestSampleNeedsNothing(t *testing.T) {
	for _, p := range mustFind(t, "smpv2-llama2").Params {
		if p.Required {
			t.Errorf("%s is required", p.Name)
		}
	}
	r := render(t, "smpv2-llama2", Values{Name: "smpv2-llama2"})
	if len(r.Objects) != 1 || len(r.Notices) != 0 {
		t.Errorf("%d objects, notices %q", len(r.Objects), r.Notices)
	}
	script := manifest.TextOf(at(t, r.Objects[0], workerContainer+".command[2]"))
	if !strings.Contains(script, "exec torchrun --nnodes=2 --nproc_per_node=8 --rdzv_backend=c10d --rdzv_endpoint=smpv2-llama2-worker-0:29400") {
		t.Errorf("the script starts\n%s", script)
	}
}

// A name that no file can have is a name that is not there.
func TestImpossibleNames(t *testing.T) {
	for _, name := range []string{strings.Repeat("x", 5000), "a\x00b", "a\nb", "\x1b[2J"} {
		_, err := Find(name, Dirs{Work: t.TempDir(), User: t.TempDir()})
		if errs.ExitOf(err) != errs.NotFound || len(errs.Text(err, false)) > 400 {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}
