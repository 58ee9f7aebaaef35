package catalogue

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

const jobHead = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      containers:\n      - name: c\n        image: i\n"

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

// A folder for templates that the user may not read is reported, not taken for empty.
func TestAllReportsUnreadableFolders(t *testing.T) {
	user := filepath.Join(t.TempDir(), "templates")
	write(t, filepath.Join(user, "own.yaml"), jobHead)
	if err := os.Chmod(user, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(user, 0o700) })
	if _, err := os.ReadDir(user); err == nil {
		t.Skip("this user may read every folder")
	}
	infos, unusable := All(Dirs{User: user})
	if len(infos) == 0 || len(unusable) != 1 || unusable[0].Source != user || unusable[0].Err.Error() != "permission denied" {
		t.Errorf("%d templates, %+v", len(infos), unusable)
	}
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
		"pytorhc":       {errs.NotFound, `did you mean "pytorch"`},
		"nothing-like":  {errs.NotFound, "available:  accelerate, ddp-cpu, "},
		"missing.yaml":  {errs.NotFound, "file missing.yaml not found"},
		"broken":        {errs.Usage, "broken.yaml"},
		"folder.yaml":   {errs.Usage, "is a folder"},
		"../pytorch":    {errs.NotFound, "file ../pytorch not found"},
		"..\\x\ninject": {errs.NotFound, "not found"},
	} {
		_, err := Find(name, d)
		if errs.ExitOf(err) != want.code || !strings.Contains(errs.Text(err, false), want.text) {
			t.Errorf("%q: exit %d\n%s", name, errs.ExitOf(err), errs.Text(err, false))
		}
	}
}

func TestNames(t *testing.T) {
	if own := Names(Dirs{}); !slices.EqualFunc(own, embeddedNames, func(i parse.Info, name string) bool { return i.Name == name }) {
		t.Fatalf("embedded templates %v", own)
	}
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

var embeddedNames = []string{"accelerate", "ddp-cpu", "dev", "fsdp-llama", "fsdp-llama-etcd", "hyperpod-pytorch", "jax", "mpi", "nccl-tests", "neuron-llama", "notebook", "pytorch", "ray", "serve", "smpv2-llama2", "spark", "trainjob"}

// A name that no file can have is a name that is not there.
func TestImpossibleNames(t *testing.T) {
	for _, name := range []string{strings.Repeat("x", 5000), "a\x00b", "a\nb", "\x1b[2J"} {
		_, err := Find(name, Dirs{Work: t.TempDir(), User: t.TempDir()})
		if errs.ExitOf(err) != errs.NotFound || len(errs.Text(err, false)) > 400 {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}
