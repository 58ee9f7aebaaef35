package errs

import (
	"slices"
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	formats := []string{"json", "yaml", "table", "wide", "name"}
	priorities := []string{"inference-priority", "fine-tuning-priority", "experiment-priority", "training-priority"}
	for _, tt := range []struct {
		want  string
		names []string
		near  []string
	}{
		{"jsno", formats, []string{"json"}},
		{"tabel", formats, []string{"table"}},
		{"YAML", formats, []string{"yaml"}},
		{"yml", formats, []string{"yaml"}},
		{"wid", formats, []string{"wide"}},
		{"xml", formats, nil},
		{"training", priorities, []string{"training-priority"}},
		{"tuning", priorities, []string{"fine-tuning-priority"}},
		{"trianing-priority", priorities, []string{"training-priority"}},
		{"priority", priorities, []string{"experiment-priority", "fine-tuning-priority", "inference-priority"}},
		{"training-priority-high", priorities, []string{"training-priority"}},
		{"a", []string{"abc", "xyz"}, []string{"abc"}},
		// Nothing of a short word is left after two errors.
		{"ab", []string{"cd", "xb", "x"}, []string{"xb"}},
		{"x", []string{"y", "jobs"}, nil},
		{"abc", []string{"axy"}, nil},
		{"学習ジョブ", []string{"学習シヨブ", "推論ジョブ"}, []string{"学習シヨブ", "推論ジョブ"}},
		{"学習", []string{"推論"}, nil},
		{"", formats, nil},
		{"json", nil, nil},
		{"json", []string{""}, nil},
		{"json", []string{"json", "json"}, []string{"json"}},
		{strings.Repeat("x", 10000), formats, nil},
	} {
		if got := Near(tt.want, tt.names); !slices.Equal(got, tt.near) {
			t.Errorf("%.20q: got %q, want %q", tt.want, got, tt.near)
		}
	}
}

func TestNearIsBestFirst(t *testing.T) {
	got := Near("llama", []string{"my-llama", "llamb", "llama-7b", "lxmb", "llama-13b"})
	if want := []string{"llama-13b", "llama-7b", "llamb"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "a", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"abcd", "badc", 2}, {"ca", "abc", 3}, {"é", "e", 1},
	} {
		for _, swap := range []bool{false, true} {
			if swap {
				tt.a, tt.b = tt.b, tt.a
			}
			if got := distance(tt.a, tt.b, 5); got != tt.want {
				t.Errorf("%q %q: %d", tt.a, tt.b, got)
			}
		}
	}
	if got := distance("a", "abcdef", 2); got != 3 {
		t.Errorf("beyond the limit: %d", got)
	}
}
