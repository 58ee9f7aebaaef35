package startjob

import "testing"

// A mode that is new is not said to allow one node only.
func TestOnlyOneNode(t *testing.T) {
	for _, c := range []struct {
		modes     []string
		node, pod bool
	}{
		{nil, false, false},
		{[]string{"ReadWriteOnce"}, true, false},
		{[]string{"ReadWriteOncePod"}, true, true},
		{[]string{"ReadWriteOnce", "ReadWriteMany"}, false, false},
		{[]string{"ReadOnlyMany"}, false, false},
		{[]string{"ReadWriteSometimes"}, false, false},
		{[]string{"ReadWriteOncePod", "ReadWriteSometimes"}, false, false},
	} {
		if node, pod := onlyOneNode(c.modes); node != c.node || pod != c.pod {
			t.Errorf("%v: %v, %v", c.modes, node, pod)
		}
	}
}
