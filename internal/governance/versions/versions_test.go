package versions

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
)

// everything is a case that uses all there is.
func everything() (c Case) {
	v := reflect.ValueOf(&c).Elem()
	for i := range v.NumField() {
		v.Field(i).SetBool(true)
	}
	return c
}

// TestTable: each row has versions in order, and concerns a case of what it is about and no other.
func TestTable(t *testing.T) {
	seen := map[Code]bool{}
	for _, d := range All() {
		if seen[d.Code] || d.Pull < 1000 {
			t.Errorf("%s #%d: twice, or without a number", d.Code, d.Pull)
		}
		seen[d.Code] = true
		for i, s := range d.Since {
			if v := version.MustParseGeneric(s); i > 0 && !version.MustParseGeneric(d.Since[i-1]).LessThan(v) {
				t.Errorf("%s: %v", d.Code, d.Since)
			}
		}
		if d.Concerns(Case{}) {
			t.Errorf("%s concerns what uses nothing", d.Code)
		}
		if !d.Concerns(everything()) {
			t.Errorf("%s concerns nothing", d.Code)
		}
	}
	// Each fact about a case matters to some row.
	for i := range reflect.TypeFor[Case]().NumField() {
		c := everything()
		reflect.ValueOf(&c).Elem().Field(i).SetBool(false)
		if !slices.ContainsFunc(All(), func(d Difference) bool { return !d.Concerns(c) }) {
			t.Errorf("nothing depends on %s", reflect.TypeFor[Case]().Field(i).Name)
		}
	}
}

func TestBetween(t *testing.T) {
	for _, c := range []struct{ cluster, rules, with, without string }{
		{"v0.19.2", "v0.19.2", "", "StickyHead"},
		{"v0.19.3", "v0.19.2", "LimitRangeLimits StickyHead RejectedChecks", "FlavorScan PodsQuota"},
		{"v0.19.7-eksbuild.1", "v0.19.2", "PodsQuota UseOrder", "DefaultPriority"},
		{"v0.19.1", "v0.19.2", "ReplacementDomains MovedPlacement", "LeaderCapacity RetainedInputs VariantOrder StickyHead"},
		{"v0.19.0", "v0.19.2", "LeaderCapacity RetainedInputs VariantOrder ChangedFlavors", "AdmissionGates OverlappingTargets"},
		{"v0.20.0", "v0.19.2", "OverlappingTargets StickyHead", "LeaderCapacity RetainedInputs"},
		{"v0.18.5", "v0.19.2", "AdmissionGates VariantOrder ReplacementDomains", "FlavorScan SelectorLabels StickyHead LeaderCapacity"},
		{"v0.18.4", "v0.19.2", "FlavorScan", "SelectorLabels EqualDomains"},
		{"v0.17.6", "v0.19.2", "EqualWorkloads EqualDomains FlavorScan", "SelectorLabels CombinedPodSets"},
		{"v0.14.0", "v0.19.2", "HeadAfterPreemption FailedPreemption", "ShareRounding"},
		{"v0.14.5", "v0.19.2", "PastUse", "HeadAfterPreemption FailedPreemption"},
		{"v0.10.4", "v0.19.2", "ImplicitTopology NestedPreemption", "IdleReclaim"},
		{"v0.10.3", "v0.19.2", "IdleReclaim", ""},
		{"v0.21.0", "v0.19.7", "DefaultPriority OverlappingTargets NodeFeasibility ReservedUse", "PodsQuota"},
		{"v0.20.0", "v0.20.0", "", "DefaultPriority"},
	} {
		var got []string
		for _, d := range Between(c.cluster, c.rules, everything()) {
			got = append(got, string(d.Code))
		}
		for _, code := range strings.Fields(c.with) {
			if !slices.Contains(got, code) {
				t.Errorf("%s: %v lacks %s", c.cluster, got, code)
			}
		}
		for _, code := range strings.Fields(c.without) {
			if slices.Contains(got, code) {
				t.Errorf("%s: %v has %s", c.cluster, got, code)
			}
		}
	}
	if got := Between("main", "v0.19.2", everything()); got != nil {
		t.Errorf("an invalid version: %v", got)
	}
	if got := Between("v0.19.7", "v0.19.2", Case{Cohort: true, Preempts: true, BestEffort: true}); len(got) != 1 || got[0].Code != StickyHead {
		t.Errorf("one of them concerns the case: %v", got)
	}
}

func TestBuiltIn(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "sigs.k8s.io/kueue " + BuiltIn + "\n"; !strings.Contains(string(mod), want) {
		t.Errorf("go.mod has no %q", want)
	}
}
