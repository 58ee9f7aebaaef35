package quota_test

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

func TestRuledOut(t *testing.T) {
	const message = "couldn't assign flavors to pod set main: flavor a doesn't match node affinity, untolerated taint {x y NoSchedule <nil>} in flavor b, insufficient unused quota for cpu in flavor c, 1 more needed"
	for flavor, want := range map[string]bool{"a": true, "b": true, "c": false, "d": false} {
		if quota.RuledOut(message, flavor) != want {
			t.Errorf("%s: %v", flavor, !want)
		}
	}
}
