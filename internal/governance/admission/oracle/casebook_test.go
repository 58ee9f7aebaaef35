package oracle

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Kueue has unit tests of its scheduler. To learn what each gives the scheduler and what comes of it, this file makes a copy of
// Kueue's sources outside of the repository, with calls of package casebook (testdata/casebook) in the functions that matter,
// and runs the tests there.

// edit is a change of a function of Kueue. It fails if the function is not there.
type edit struct {
	dir, receiver, function string
	// call is inserted as the first statement; $0, $1, ... are the names of the parameters.
	call string
	// name is the new name of the function.
	name string
	// wait makes the function wait for the goroutine that it starts.
	wait bool
}

var edits = []edit{
	{dir: "pkg/cache/scheduler", function: "New", call: "casebook.Begin($0)"},
	{dir: "pkg/cache/scheduler", function: "WithResourceTransformations", call: "casebook.Transform($0)"},
	{dir: "pkg/cache/scheduler", function: "WithExcludedResourcePrefixes", call: "casebook.Exclude($0)"},
	{dir: "pkg/cache/scheduler", function: "WithPodsReadyTracking", call: "casebook.TrackPods($0)"},
	{dir: "pkg/cache/scheduler", receiver: "Cache", function: "AddOrUpdateResourceFlavor", call: "casebook.Note($1)"},
	{dir: "pkg/cache/scheduler", receiver: "Cache", function: "AddOrUpdateTopology", call: "casebook.Note($1)"},
	{dir: "pkg/cache/scheduler", receiver: "Cache", function: "AddOrUpdateAdmissionCheck", call: "casebook.Note($1)"},
	{dir: "pkg/cache/scheduler", receiver: "Cache", function: "AddOrUpdateCohort", call: "casebook.Note($0)"},
	{dir: "pkg/cache/scheduler", receiver: "Cache", function: "AddClusterQueue", call: "casebook.Note($1)"},
	{dir: "pkg/cache/scheduler", receiver: "Cache", function: "UpdateClusterQueue", call: "casebook.Note($1)"},
	{dir: "pkg/cache/scheduler", receiver: "Cache", function: "AddLocalQueue", call: "casebook.Note($0)"},
	{dir: "pkg/cache/scheduler", receiver: "tasCache", function: "SyncNode", call: "casebook.Note($0)"},
	{dir: "pkg/cache/scheduler", receiver: "tasCache", function: "Update", call: "casebook.Note($0)"},
	{dir: "pkg/cache/queue", receiver: "Manager", function: "AddLocalQueue", call: "casebook.Note($1)"},
	{dir: "pkg/cache/queue", receiver: "Manager", function: "AddOrUpdateCohort", call: "casebook.Note($1)"},
	{dir: "pkg/cache/queue/afs", receiver: "AfsUsageLedger", function: "SetForTest", call: "casebook.Use(string($0), $1)"},
	{dir: "pkg/scheduler", receiver: "Scheduler", function: "schedule", call: "defer s.casebook()()"},
	{dir: "pkg/scheduler/preemption", function: "New", call: "casebook.Fair($3)"},
	{dir: "pkg/scheduler/preemption", receiver: "Preemptor", function: "GetTargets", name: "getTargetsOfKueue"},
	{dir: "pkg/util/routine", receiver: "wrapper", function: "Run", wait: true},
	{dir: "pkg/util/testing", function: "ContextWithLog", call: "casebook.Name($0.Name())"},
	{dir: "pkg/cache/scheduler", receiver: "TASFlavorCache", function: "snapshot", call: "c.casebook($2)"},
	{dir: "pkg/cache/scheduler", receiver: "TASFlavorSnapshot", function: "FindTopologyAssignmentsForFlavor", name: "findTopologyAssignmentsOfKueue"},
	{dir: "pkg/workload", function: "AdjustResources", name: "adjustResourcesOfKueue"},
	{dir: "pkg/workload", function: "NewInfo", name: "newInfoOfKueue"},
	{dir: "pkg/workload", function: "ValidateResources", name: "validateResourcesOfKueue"},
	{dir: "pkg/workload", function: "ValidateLimitRange", name: "validateLimitRangeOfKueue"},
	{dir: "pkg/controller/core", receiver: "WorkloadReconciler", function: "Reconcile", name: "reconcileOfKueue"},
}

// hooks are the files of testdata/casebook, and where they go.
var hooks = map[string]string{
	"casebook.go":   "pkg/util/casebook",
	"scheduler.go":  "pkg/scheduler",
	"preemption.go": "pkg/scheduler/preemption",
	"placement.go":  "pkg/cache/scheduler",
	"requests.go":   "pkg/workload",
	"reconcile.go":  "pkg/controller/core",
	"constants.go":  "test/util",
}

// testPackages are the packages whose tests are run: of the first two, all tests, of the others the tests of units.
var testPackages = []string{"pkg/scheduler", "pkg/scheduler/preemption", "pkg/cache/scheduler", "pkg/workload", "pkg/controller/core"}

const units = `^Test(FindTopologyAssignments|AdjustResources|NewInfo$|ValidateResources|ValidateLimitRange|Reconcile)`

// apply changes the file that declares the function.
func (e edit) apply(t *testing.T, root string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, e.dir, "*.go"))
	must(err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		src, err := os.ReadFile(path)
		must(err)
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
		must(err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name != e.function || receiverOf(fn) != e.receiver {
				continue
			}
			must(os.WriteFile(path, e.change(t, fset, f, fn, src), 0o666))
			return
		}
	}
	t.Fatalf("Kueue has no function %s %s in %s", e.receiver, e.function, e.dir)
}

func receiverOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	of := fn.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func (e edit) change(t *testing.T, fset *token.FileSet, f *ast.File, fn *ast.FuncDecl, src []byte) []byte {
	t.Helper()
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	type insertion struct {
		from, to int
		text     string
	}
	var all []insertion
	if e.call != "" {
		call, n := e.call, 0
		for _, field := range fn.Type.Params.List {
			for _, id := range field.Names {
				call = strings.ReplaceAll(call, fmt.Sprint("$", n), id.Name)
				n++
			}
		}
		if strings.Contains(call, "$") || strings.Contains(call, "(_") {
			t.Fatalf("%s %s of Kueue has other parameters: %s", e.receiver, e.function, call)
		}
		all = append(all, insertion{at(fn.Body.Lbrace) + 1, at(fn.Body.Lbrace) + 1, " " + call + "; "})
		if strings.Contains(call, "casebook.") && !strings.Contains(call, ".casebook") && !bytes.Contains(src, []byte(importOfCasebook)) {
			all = append(all, insertion{at(f.Name.End()), at(f.Name.End()), "; " + importOfCasebook})
		}
	}
	if e.name != "" {
		all = append(all, insertion{at(fn.Name.Pos()), at(fn.Name.End()), e.name})
	}
	if e.wait {
		started := 0
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				started++
				all = append(all, insertion{at(g.Go), at(g.Go) + len("go "), ""})
			}
			return true
		})
		if started != 1 {
			t.Fatalf("%s %s of Kueue starts %d goroutines", e.receiver, e.function, started)
		}
	}
	slices.SortFunc(all, func(a, b insertion) int { return b.from - a.from })
	for _, i := range all {
		src = slices.Concat(src[:i.from], []byte(i.text), src[i.to:])
	}
	return src
}

const importOfCasebook = `import "sigs.k8s.io/kueue/pkg/util/casebook"`

// copied makes the copy of Kueue in the user's cache, so that the next run finds its packages compiled, and returns its folder.
func copied(t *testing.T) string {
	t.Helper()
	kueueDir := strings.TrimSpace(output(t, "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue"))
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %+v", filepath.Base(kueueDir), edits)
	for _, name := range slices.Sorted(maps.Keys(hooks)) {
		data, err := os.ReadFile(filepath.Join("testdata", "casebook", name))
		must(err)
		sum.Write(data)
	}
	cache, err := os.UserCacheDir()
	must(err)
	parent := filepath.Join(cache, "hyperpod-casebook")
	done := filepath.Join(parent, fmt.Sprintf("kueue-%x", sum.Sum(nil)[:6]))
	if _, err := os.Stat(done); err == nil {
		return done
	}
	// Other runs may do the same.
	must(os.MkdirAll(parent, 0o777))
	to, err := os.MkdirTemp(parent, "new-")
	must(err)
	must(copyGo(kueueDir, to))
	for _, e := range edits {
		e.apply(t, to)
	}
	for name, dir := range hooks {
		data, err := os.ReadFile(filepath.Join("testdata", "casebook", name))
		must(err)
		must(os.MkdirAll(filepath.Join(to, dir), 0o777))
		must(os.WriteFile(filepath.Join(to, dir, "casebook.go"), data, 0o666))
	}
	complete(to, done)
	return done
}

// complete gives a finished folder its name, unless another run was faster.
func complete(folder, name string) {
	if err := os.Rename(folder, name); err != nil {
		_, found := os.Stat(name)
		must(found)
		must(os.RemoveAll(folder))
	}
}

// copyGo copies go.mod and the Go files of a module, with the tests of testPackages.
func copyGo(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"site", "keps", "docs", "charts", "config", "test", "hack", "cmd"}, rel) {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		test := strings.HasSuffix(rel, "_test.go")
		if rel != "go.mod" && filepath.Ext(rel) != ".go" || test && !slices.Contains(testPackages, filepath.Dir(rel)) {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o666)
	})
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

// unlike are the scenarios of Kueue's tests that repeat a case for something the engine has no part in: how a status is
// patched, and caches of topologies.
const unlike = `.*/(UseMergePatch:true|feature_is_true|cacheMatchResults:false|vectorizedRequests:false)`

// writeCases runs Kueue's tests in the copy and returns the folder with their cases.
func writeCases(t *testing.T) string {
	t.Helper()
	root := copied(t)
	done := filepath.Join(root, "cases")
	if _, err := os.Stat(done); err == nil {
		return done
	}
	dir, err := os.MkdirTemp(root, "cases-")
	must(err)
	here, err := os.Getwd()
	must(err)
	mod, err := os.ReadFile("go.mod")
	must(err)
	const product = "replace github.com/hyperpod-cli/hyperpod => ../../../..\n"
	if !bytes.Contains(mod, []byte(product)) {
		t.Fatal("go.mod has no line " + product)
	}
	mod = bytes.Replace(mod, []byte(product), fmt.Appendf(nil, "replace github.com/hyperpod-cli/hyperpod => %s\n\nreplace sigs.k8s.io/kueue => %s\n", filepath.Join(here, "../../../.."), root), 1)
	sum, err := os.ReadFile("go.sum")
	must(err)
	modfile := filepath.Join(t.TempDir(), "cases.mod")
	must(os.WriteFile(modfile, mod, 0o666))
	must(os.WriteFile(strings.TrimSuffix(modfile, "mod")+"sum", sum, 0o666))
	for pattern, packages := range map[string][]string{"^Test": testPackages[:2], units: testPackages[2:]} {
		args := []string{"test", "-vet=off", "-count=1", "-modfile", modfile, "-run", pattern, "-skip", unlike}
		for _, p := range packages {
			args = append(args, "sigs.k8s.io/kueue/"+p)
		}
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CASEBOOK="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	complete(dir, done)
	return done
}
