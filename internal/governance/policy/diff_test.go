package policy

import (
	"fmt"
	"strings"
	"testing"
)

// TestDifferencesInLists: the entries of lists are compared by their names, or one by one where they have none. A list
// with another order changes as a whole: Kueue tries flavors in their order.
func TestDifferencesInLists(t *testing.T) {
	document := func(flavors string) *Document {
		d, _, faults := Parse([]byte("version: hyperpod.policy/v1\nteams:\n- team: research\n  kueue:\n    clusterQueue: research\n    spec:\n" +
			"      resourceGroups:\n      - coveredResources: [nvidia.com/gpu, cpu]\n        flavors: [" + flavors + "]\n"))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		return d
	}
	flavor := func(name, gpus, cpu string) string {
		return fmt.Sprintf(`{name: %s, resources: [{name: nvidia.com/gpu, nominalQuota: %q}, {name: cpu, nominalQuota: %q}]}`, name, gpus, cpu)
	}
	g5, p5 := flavor("g5", "8", "96"), flavor("p5", "16", "192")
	const at = "kueue.spec.resourceGroups[0].flavors"
	for _, c := range []struct{ from, to, want string }{
		{g5, g5, ""},
		{g5, flavor("g5", "12", "96"), "Update " + at + "[g5].resources[nvidia.com/gpu].nominalQuota 8 12"},
		{g5 + ", " + p5, flavor("g5", "8", "48") + ", " + flavor("p5", "8", "192"), "Update " + at + "[g5].resources[cpu].nominalQuota 96 48; Update " + at + "[p5].resources[nvidia.com/gpu].nominalQuota 16 8"},
		{g5, g5 + ", " + p5, "Create " + at + "[p5]"},
		{p5 + ", " + g5, p5, "Delete " + at + "[g5]"},
		{g5 + ", " + p5, p5 + ", " + g5, "Update " + at},
	} {
		var got []string
		for _, x := range Diff(document(c.from), document(c.to), false) {
			text := fmt.Sprint(x.Action, " ", x.Field)
			if _, list := x.To.([]any); x.Action == Update && !list {
				text += fmt.Sprint(" ", x.From, " ", x.To)
			}
			got = append(got, text)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("from %s to %s:\n got %s\nwant %s", c.from, c.to, strings.Join(got, "; "), c.want)
		}
	}
}
