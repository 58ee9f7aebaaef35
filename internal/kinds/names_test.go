package kinds

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The rule is the API server's.
func TestNotNamespace(t *testing.T) {
	for _, name := range []string{"a", "0", "a-b", "hyperpod-ns-x", strings.Repeat("a", 63), strings.Repeat("a", 64), "", "=", "A", "a_b", "a.b", "-a", "a-", "a b", "a\n", "ä", "..", "a/b"} {
		why := NotNamespace(name)
		if (why == "") != (len(validation.IsDNS1123Label(name)) == 0) || len(why) > 200 {
			t.Errorf("%q: %s", name, why)
		}
	}
}
