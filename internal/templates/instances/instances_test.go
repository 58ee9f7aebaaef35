package instances

import (
	"slices"
	"strings"
	"testing"
)

func TestTableParses(t *testing.T) {
	types, err := parse(table)
	if err != nil {
		t.Fatal(err)
	}
	if len(types) != 123 {
		t.Errorf("%d types, want the source's 122 and one of the SageMaker API", len(types))
	}
	seen := map[string]bool{}
	for _, ty := range types {
		if seen[ty.Name] {
			t.Errorf("%s is twice in the table", ty.Name)
		}
		seen[ty.Name] = true
		if !strings.HasPrefix(ty.Name, "ml.") || ty.VCPU < 1 || ty.MemoryGiB < 1 {
			t.Errorf("implausible row %+v", ty)
		}
		if (ty.Resource == "") != (ty.Accelerators == 0) || (ty.Accelerators == 0) != (ty.Cores == 0) {
			t.Errorf("%s: resource %q, %d accelerators and %d cores do not agree", ty.Name, ty.Resource, ty.Accelerators, ty.Cores)
		}
		if strings.Contains(ty.Name, "trn") != (ty.Resource == NeuronDevice) {
			t.Errorf("%s has resource %q", ty.Name, ty.Resource)
		}
	}
}

func TestParseRefusesBadRows(t *testing.T) {
	for _, bad := range []string{"ml.x\tr", "ml.x\t-\tmany\t0\t0\t1\t1\t-\t-"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, name := range []string{"ml.p5.48xlarge", "p5.48xlarge", " P5.48xlarge "} {
		ty, ok := Lookup(name)
		if !ok || ty.Name != "ml.p5.48xlarge" || ty.Accelerators != 8 || ty.EFA != 32 || ty.VCPU != 192 || ty.MemoryGiB != 2048 {
			t.Errorf("Lookup(%q) = %+v, %v", name, ty, ok)
		}
	}
	if _, ok := Lookup("p9.48xlarge"); ok {
		t.Error("an unknown type was found")
	}
	if near := Near("p5.48xlarg"); !slices.Contains(near, "ml.p5.48xlarge") {
		t.Errorf("Near = %v", near)
	}
}

// Where the table differs from its source, the note must mention it.
func TestCorrectedValues(t *testing.T) {
	for _, c := range []struct {
		name  string
		efa   int
		cores int
		note  string
	}{
		{"ml.p6e-gb200.36xlarge", 4, 1, "source says 0 EFA"},
		{"ml.c6i.32xlarge", 0, 0, "does not serve"},
		{"ml.m6i.32xlarge", 0, 0, "does not serve"},
		{"ml.r6i.32xlarge", 0, 0, "does not serve"},
		{"ml.trn2.48xlarge", 16, 4, "LNC=2"},
		{"ml.trn1.32xlarge", 8, 2, Neuron},
	} {
		ty, _ := Lookup(c.name)
		if ty.EFA != c.efa || ty.Cores != c.cores || !strings.Contains(ty.Note, c.note) {
			t.Errorf("%s: EFA %d, cores %d, note %q; want %d, %d and a note with %q", c.name, ty.EFA, ty.Cores, ty.Note, c.efa, c.cores, c.note)
		}
	}
}

// The figures are those that the official CLI v3.9.0 computes.
func TestAllocatable(t *testing.T) {
	for _, c := range []struct {
		name string
		cpu  float64
		gib  float64
	}{
		{"ml.p5.48xlarge", 179.97, 1890.26},
		{"ml.p4d.24xlarge", 89.73, 1056.98},
		{"ml.g5.8xlarge", 29.57, 104.66},
		{"ml.trn1.32xlarge", 119.81, 461.78},
	} {
		ty, _ := Lookup(c.name)
		cpu, memory := ty.Allocatable()
		if got := float64(cpu) / 1000; got < c.cpu-0.006 || got > c.cpu+0.006 {
			t.Errorf("%s: %.3f cores, want %.2f", c.name, got, c.cpu)
		}
		if got := float64(memory) / (1 << 30); got < c.gib-0.006 || got > c.gib+0.006 {
			t.Errorf("%s: %.3f GiB, want %.2f", c.name, got, c.gib)
		}
	}
	for _, ty := range All() {
		cpu, memory := ty.Allocatable()
		if cpu <= 0 || cpu >= int64(ty.VCPU)*1000 || memory <= 0 || memory >= int64(ty.MemoryGiB)<<30 {
			t.Errorf("%s: %d millicores and %d bytes are left of %d and %d GiB", ty.Name, cpu, memory, ty.VCPU, ty.MemoryGiB)
		}
	}
}

func TestEFAShare(t *testing.T) {
	for _, c := range []struct {
		name    string
		n, want int
	}{
		{"p5.48xlarge", 8, 32}, {"p5.48xlarge", 1, 4}, {"p5.48xlarge", 3, 12}, {"p4d.24xlarge", 1, 0}, {"p4d.24xlarge", 2, 1},
		{"p4d.24xlarge", 8, 4}, {"g5.48xlarge", 4, 0}, {"g5.48xlarge", 8, 1}, {"g5.2xlarge", 1, 0}, {"c5n.18xlarge", 0, 1}, {"p5.48xlarge", 0, 0},
		{"p5.48xlarge", 99, 32},
	} {
		ty, ok := Lookup(c.name)
		if got := ty.EFAShare(c.n); !ok || got != c.want {
			t.Errorf("%s: %d accelerators get %d EFA, want %d", c.name, c.n, got, c.want)
		}
	}
	// However a node is divided, its parts never ask for more than it has.
	for _, ty := range All() {
		for n := 1; n <= ty.Accelerators; n++ {
			if parts := ty.Accelerators / n; parts*ty.EFAShare(n) > ty.EFA {
				t.Errorf("%s: %d jobs with %d accelerators ask for %d EFA of %d", ty.Name, parts, n, parts*ty.EFAShare(n), ty.EFA)
			}
		}
	}
}

func TestTasks(t *testing.T) {
	for _, c := range []struct {
		name    string
		n, want int
	}{{"p5.48xlarge", 8, 8}, {"p5.48xlarge", 3, 3}, {"trn1.32xlarge", 16, 32}, {"trn2.48xlarge", 16, 64}, {"m5.4xlarge", 0, 8}, {"m5.large", 0, 2}} {
		ty, _ := Lookup(c.name)
		if got := ty.Tasks(c.n); got != c.want {
			t.Errorf("%s with %d: %d tasks, want %d", c.name, c.n, got, c.want)
		}
	}
}

func TestMIGShare(t *testing.T) {
	ty, _ := Lookup("p5.48xlarge")
	for _, c := range []struct {
		profile string
		n       int
		want    float64
	}{{"7g.80gb", 1, 0.125}, {"1g.10gb", 7, 0.125}, {"3g.40gb", 2, 6.0 / 56}, {"7g.80gb", 99, 1}, {"", 1, 0}, {"x", 1, 0}} {
		if got := ty.MIGShare(c.profile, c.n); got != c.want {
			t.Errorf("%d x %s: %v of a node, want %v", c.n, c.profile, got, c.want)
		}
	}
}
