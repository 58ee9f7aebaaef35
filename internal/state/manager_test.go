package state

import (
	"reflect"
	"testing"
)

func TestGateFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want map[string]bool
	}{
		{nil, nil},
		{[]string{"/manager", "--config=/c.yaml"}, nil},
		{[]string{"--feature-gates=A=true,B=false"}, map[string]bool{"A": true, "B": false}},
		{[]string{"--feature-gates", "A=true"}, map[string]bool{"A": true}},
		{[]string{"-feature-gates=A=true, C=false"}, map[string]bool{"A": true, "C": false}},
		{[]string{GateFlag("A=true"), "--feature-gates=B=maybe,,D"}, map[string]bool{"A": true}},
		{[]string{"feature-gates=A=true", "--feature-gates"}, nil},
	} {
		if got := Gates(GateFlags(c.args)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %v, want %v", c.args, got, c.want)
		}
	}
}
