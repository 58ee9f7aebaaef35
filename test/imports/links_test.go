package imports

import (
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// engine is a package of Kueue that only its scheduling core needs.
const engine = "sigs.k8s.io/kueue/pkg/cache/scheduler"

// linked are the packages, by folder, whose test binaries contain Kueue. Linking one takes two seconds of a processor more than
// linking another one, and a quarter of make check is linking.
var linked = map[string][]string{
	"":                    {"bench"},
	"cmd":                 {"gendocs"},
	"internal":            {"cli", "doctor", "present", "sandbox", "snapshot"},
	"internal/cli":        {"admissioncheck", "canceljob", "dashboardcmd", "explainjob", "governancecmd", "sandboxcmd", "simulatecmd", "startjob", "validatetemplate"},
	"internal/governance": {"admission", "apply", "check", "explain", "forecast", "inputs", "integration", "plan", "simulate"},
	"internal/present":    {"verdict"},
	"internal/sandbox":    {"control"},
	"test":                {"counts", "crash", "e2e", "fault", "fidelity", "live", "network", "script", "soak", "worlds"},
}

// TestBinariesWithKueue: only the tests that need Kueue link it.
func TestBinariesWithKueue(t *testing.T) {
	out, err := exec.Command("go", "list", "-test", "-f", `{{$p := .ImportPath}}{{range .Deps}}{{if eq . "`+engine+`"}}{{$p}}{{"\n"}}{{end}}{{end}}`, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	links := map[string]bool{}
	for name := range strings.Lines(string(out)) {
		if name, isTest := strings.CutSuffix(strings.TrimSpace(name), ".test"); isTest {
			links[strings.TrimPrefix(name, module)] = true
		}
	}
	want := map[string]bool{}
	for folder, names := range linked {
		for _, name := range names {
			want[path.Join(folder, name)] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		if !want[name] {
			t.Errorf("the tests of %s link Kueue: move what needs it, or test with test/fixture in place of the sandbox", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !links[name] {
			t.Errorf("the tests of %s link no Kueue any more: remove the package from the list", name)
		}
	}
}
