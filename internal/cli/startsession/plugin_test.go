package startsession

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
)

func TestNewer(t *testing.T) {
	for version, want := range map[string]bool{
		"1.2.497.0\n": false, "1.2.498.0\n": true, "1.2.497.1": true, "1.2.497": false, "1.3": true, "2": true, "1.1.999.0": false, "": false, "x": false, "1.2.3.4.5": false, "-1": false,
	} {
		if got := newer(version, lastWithoutVariable()); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}

func TestValidate(t *testing.T) {
	ml := factory.OneCluster{Cluster: "ml"}
	for _, tt := range []struct {
		o  Options
		ok bool
	}{
		{Options{Node: "i-0123456789abcdef0"}, true},
		{Options{Node: "hyperpod-i-0123456789abcdef0", OneCluster: ml, Forward: "1:2"}, true},
		{Options{Group: "g", OneCluster: ml, Forward: "8080:db.internal:5432"}, true},
		{Options{}, false},
		{Options{Group: "g"}, false},
		{Options{Node: "ip-10-0-0-1"}, false},
		{Options{Node: "i-1", Pod: "p", OneCluster: ml}, false},
		{Options{Node: "i-1", Command: "x", SSHProxy: true}, false},
		{Options{Node: "i-1", Forward: "1"}, false},
		{Options{Node: "i-1", Forward: "1:70000"}, false},
		{Options{Node: "i-1", Forward: "1::2"}, false},
	} {
		tt.o.Port = 22
		if err := tt.o.Validate(); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
}
