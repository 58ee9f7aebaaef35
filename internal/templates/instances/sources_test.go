package instances

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rows reads a table of testdata, without its comments.
func rows(t *testing.T, name string, columns int) [][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		c := strings.Split(line, "\t")
		if len(c) != columns {
			t.Fatalf("%s line %d: %d columns, want %d", name, i+1, len(c), columns)
		}
		out = append(out, c)
	}
	return out
}

// difference is a value of the table that is not a source's.
type difference struct{ instanceType, field, source, ours string }

func differences(t *testing.T) []difference {
	var out []difference
	seen := map[string]bool{}
	for _, c := range rows(t, "sources.tsv", 11) {
		ty, ok := Lookup(c[0])
		seen[c[0]] = true
		if !ok {
			out = append(out, difference{c[0], "type", "listed", "absent"})
			continue
		}
		resource, cores, mig := ty.Resource, strconv.Itoa(ty.Cores), strings.Join(ty.MIG, ",")
		if resource == "" {
			resource = "-"
		}
		if mig == "" {
			mig = "-"
		}
		for _, f := range []struct{ field, source, ours string }{
			{"resource", c[1], resource},
			{"accelerators", c[2], strconv.Itoa(ty.Accelerators)},
			{"efa", c[3], strconv.Itoa(ty.EFA)},
			{"vcpu", c[4], strconv.Itoa(ty.VCPU)},
			{"memory", c[5], strconv.Itoa(ty.MemoryGiB)},
			{"accelerators", c[6], strconv.Itoa(ty.Accelerators)},
			{"cores", c[7], cores},
			{"efa", c[9], strconv.Itoa(ty.EFA)},
			{"mig", c[10], mig},
		} {
			silent := f.source == "-" && f.field != "resource" && f.field != "mig" // the v2 launcher does not know the type
			if d := (difference{c[0], f.field, f.source, f.ours}); !silent && f.source != f.ours && !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	for _, ty := range All() {
		if !seen[ty.Name] {
			out = append(out, difference{ty.Name, "type", "absent", "listed"})
		}
	}
	return out
}

// Every value is the sources', or the difference is written down as a doubt, with
// its reason here and in the row's note. Every doubt is one of a row with a note,
// or says why the table's value was kept.
func TestTableAgainstItsSources(t *testing.T) {
	doubts := map[string][]string{}
	for _, c := range rows(t, "doubts.tsv", 6) {
		doubts[c[0]+" "+c[1]] = c
		ty, ok := Lookup(c[0])
		if !ok {
			t.Errorf("a doubt about %s, which is not in the table", c[0])
			continue
		}
		ours := map[string]string{"efa": fmt.Sprint(ty.EFA), "cores": fmt.Sprint(ty.Cores), "accelerators": fmt.Sprint(ty.Accelerators), "resource": ty.Resource, "type": "listed"}[c[1]]
		want := c[2]
		if c[4] == "corrected" {
			want = c[3]
			if ty.Note == "" {
				t.Errorf("%s: %s is corrected, and the row has no note", c[0], c[1])
			}
		}
		if ours != want {
			t.Errorf("%s: %s is %s, and the doubt says that %s is %s", c[0], c[1], ours, c[4], want)
		}
		t.Logf("doubtful: %-22s %-12s v3 says %s, %s; %s", c[0], c[1], c[2], c[5], c[4])
	}
	for _, d := range differences(t) {
		c, known := doubts[d.instanceType+" "+d.field]
		if !known || c[4] != "corrected" || c[3] != d.ours {
			t.Errorf("%s: %s is %s, the source says %s, and nothing says why", d.instanceType, d.field, d.ours, d.source)
		}
	}
	// The default number of processes is the v2 launcher's where it knows the type.
	for _, c := range rows(t, "sources.tsv", 11) {
		ty, _ := Lookup(c[0])
		_, doubted := doubts[c[0]+" cores"]
		if got := strconv.Itoa(ty.Tasks(ty.Accelerators)); c[6] != "-" && !doubted && got != c[8] {
			t.Errorf("%s: %s processes a node, v2 has %s", c[0], got, c[8])
		}
	}
}

// What is known of the families: no type of one has more accelerators than a
// larger one, and sizes grow together.
func TestFamiliesGrow(t *testing.T) {
	size := func(name string) float64 {
		s := name[strings.LastIndex(name, ".")+1:]
		switch {
		case s == "medium":
			return 0.25
		case s == "large":
			return 0.5
		case s == "xlarge":
			return 1
		}
		n, err := strconv.Atoi(strings.TrimSuffix(s, "xlarge"))
		if err != nil {
			t.Fatalf("the size of %s is not understood", name)
		}
		return float64(n)
	}
	family := func(name string) string { return name[:strings.LastIndex(name, ".")] }
	for _, a := range All() {
		for _, b := range All() {
			if family(a.Name) == family(b.Name) && size(a.Name) < size(b.Name) &&
				(a.VCPU > b.VCPU || a.MemoryGiB > b.MemoryGiB || a.EFA > b.EFA) {
				t.Errorf("%s %+v is larger than %s %+v", a.Name, a, b.Name, b)
			}
		}
	}
}
