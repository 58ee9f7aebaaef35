package sweep

import (
	"strings"
	"testing"
	"time"
)

// TestOrder: numbers are ordered by their size, other values as they were given, also by a later command.
func TestOrder(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		axes, later, want string
	}{
		"numbers":        {"n=10,9,2,100", "", "n=2 n=9 n=10 n=100"},
		"with exponents": {"lr=1e-3,3e-4,0.01", "", "lr=3e-4 lr=1e-3 lr=0.01"},
		"words":          {"opt=sgd,adam,lion", "", "opt=sgd opt=adam opt=lion"},
		"mixed":          {"n=10,auto,2", "", "n=10 n=auto n=2"},
		"several":        {"opt=sgd,adam n=10,2", "", "opt=sgd,n=2 opt=sgd,n=10 opt=adam,n=2 opt=adam,n=10"},
		"added later":    {"opt=sgd,lion", "opt=adam,sgd", "opt=sgd opt=lion opt=adam"},
		"one more later": {"n=-1,1", "n=-1,1 m=2", "n=-1 n=-1,m=2 n=1 n=1,m=2"},
		"one less later": {"n=1 m=-1,2", "n=1", "n=1 n=1,m=-1 n=1,m=2"},
	} {
		var list []Member
		seen := map[string]bool{}
		for i, axes := range []string{c.axes, c.later} {
			points, err := Parse(strings.Fields(axes), 100)
			if err != nil {
				t.Fatal(name, err)
			}
			for at, p := range points {
				if len(p) > 0 && !seen[p.String()] {
					seen[p.String()] = true
					// The API server lists jobs in another order.
					list = append([]Member{{p, noon.Add(time.Duration(i) * time.Minute), at}}, list...)
				}
			}
		}
		var got []string
		for _, i := range Order(list) {
			got = append(got, list[i].Point.String())
		}
		if have := strings.Join(got, " "); have != c.want {
			t.Errorf("%s: %s, want %s", name, have, c.want)
		}
	}
}
