package store

import "testing"

// TestScattered holds the numbers behind suffixes to be different, and within
// their range, for every number below the count of suffixes.
func TestScattered(t *testing.T) {
	seen := make([]bool, suffixes)
	for n := range int64(suffixes) {
		if at := scattered(n); seen[at] {
			t.Fatalf("%d has the suffix of an earlier number", n)
		} else {
			seen[at] = true
		}
	}
	if a, b := suffix(1), suffix(2); len(a) != suffixLength || a == b {
		t.Errorf("suffixes %s, %s", a, b)
	}
}

// TestGenerateName skips names that are taken.
func TestGenerateName(t *testing.T) {
	s := New()
	first := s.GenerateName("pods", "ns", "p-")
	put := func(name string) {
		if _, err := s.Put("pods", map[string]any{"metadata": map[string]any{"name": name, "namespace": "ns", "uid": name}}); err != nil {
			t.Fatal(err)
		}
	}
	taken := "p-" + suffix(2) // what the next call would return
	put(taken)
	if second := s.GenerateName("pods", "ns", "p-"); second == taken || second == first {
		t.Errorf("%s, then %s", first, second)
	}
	if other := s.GenerateName("pods", "other", "p-"); other != taken {
		t.Errorf("%s is free in another namespace, got %s", taken, other)
	}
}
