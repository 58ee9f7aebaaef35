package order

import "testing"

// FuzzParse: no configuration of Kueue makes the reader fail otherwise than with an error.
func FuzzParse(f *testing.F) {
	f.Add("featureGates: {PrioritySortingWithinCohort: false}\nwaitForPodsReady: {requeuingStrategy: {timestamp: Creation}}\n")
	f.Add("waitForPodsReady: null\n---\n&a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if rules, err := Parse(text); err != nil && rules != (Rules{}) {
			t.Errorf("%+v, %v", rules, err)
		}
	})
}
