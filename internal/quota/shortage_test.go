package quota_test

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

func TestLeastShort(t *testing.T) {
	none, some, much := quota.Availability{Flavor: "none", Now: 0, Most: 4}, quota.Availability{Flavor: "some", Now: 2, Most: 8}, quota.Availability{Flavor: "much", Now: 1, Most: 100}
	for _, c := range []struct {
		rooms []quota.Availability
		ask   int64
		want  quota.Shortage
	}{
		{nil, 8, quota.Shortage{}},
		{[]quota.Availability{none}, 3, quota.Shortage{Flavor: "none", Missing: 3}},
		{[]quota.Availability{none}, 6, quota.Shortage{Flavor: "none", Missing: 6, Beyond: 2}},
		{[]quota.Availability{none, some}, 2, quota.Shortage{Flavor: "some"}},
		{[]quota.Availability{much, some}, 8, quota.Shortage{Flavor: "some", Missing: 6}},
		{[]quota.Availability{some, much}, 9, quota.Shortage{Flavor: "much", Missing: 8}}, // what can be had at all comes first
	} {
		if got := quota.LeastShort(c.rooms, c.ask); got != c.want {
			t.Errorf("%v of %v: %+v, want %+v", c.ask, c.rooms, got, c.want)
		}
	}
}
