package snapshot

import (
	"encoding/json"
	"testing"
)

// TestSuspect: a search without decoding finds what decoding would find.
func TestSuspect(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: false,
		`{"spec":{"containers":[{"resources":{"requests":{"cpu":"500m","memory":"64Gi","nvidia.com/gpu":"8"}}}]}}`: false,
		`{"spec":{"containers":[{"resources":{"requests":{"cpu":"500m","memory":"lots"}}}]}}`:                      true,
		`{"requests": {"cpu" : "500m" , "memory" : "lots"}}`:                                                       true,
		"{\n \"limits\":\n {\n  \"cpu\":\n  \"x\"\n }\n}":                                                          true,
		`{"resources":[{"nominalQuota":"40","borrowingLimit":"-1x"}]}`:                                             true,
		`{"nominalQuota":"40","name":"limits","other":"no quantity"}`:                                              false,
		`{"requests":{"cpu":8},"message":"no quantity"}`:                                                           false,
		`{"requests":{},"message":"no quantity"}`:                                                                  false,
		`{"requests":null,"message":"no quantity"}`:                                                                false,
		`{"message":"a \"requests\": {\"cpu\": \"x\"} in words","weight":"1"}`:                                     false,
		`{"message":"ends in a backslash \\","weight":"heavy"}`:                                                    true,
		`{"weight":"1500m","total":"8","allocatable":{"pods":"110","hugepages-2Mi":"0"}}`:                          false,
		`{"overhead":{"cpu":"1 core"}}`:                                                                            true,
		`{"limits":"`:                                                                                              true,
		`{"limits":`:                                                                                               false, // cut short: reading says so
		`{"limits`:                                                                                                 false,
	} {
		if got := suspect([]byte(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
		var m map[string]any
		if json.Unmarshal([]byte(text), &m) == nil && (badQuantity("", m) != "") != want {
			t.Errorf("%s: decoding says %q", text, badQuantity("", m))
		}
	}
}

// TestSuspects keep their order, whoever finds them.
func TestSuspects(t *testing.T) {
	var list []json.RawMessage
	for i := range 100 {
		list = append(list, json.RawMessage(`{"weight":"x`+string(rune('a'+i%26))+`"}`), json.RawMessage(`{"weight":"1"}`))
	}
	found := suspects(list)
	if len(found) != 100 {
		t.Fatalf("%d of 100", len(found))
	}
	for i, raw := range found {
		if want := list[2*i]; string(raw) != string(want) {
			t.Errorf("%d: %s, not %s", i, raw, want)
		}
	}
	if got := suspects(nil); len(got) != 0 {
		t.Error(got)
	}
}
