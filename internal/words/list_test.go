package words

import "testing"

func TestSome(t *testing.T) {
	for _, c := range []struct {
		names       []string
		total, most int
		want        string
	}{
		{nil, 0, 2, ""},
		{[]string{"a"}, 1, 2, "a"},
		{[]string{"a", "b", "c"}, 3, 2, "a, b, c"}, // "1 more" would be no shorter
		{[]string{"a", "b", "c", "d"}, 4, 2, "a, b and 2 more"},
		{[]string{"a", "b"}, 9, 2, "a, b and 7 more"},
		{[]string{"a", "b"}, 3, 2, "a, b and 1 more"}, // the third name is not known
		{[]string{"a"}, 3, 2, "a and 2 more"},
	} {
		if got := SomeOf(c.names, c.total, c.most); got != c.want {
			t.Errorf("SomeOf(%q, %d, %d) = %q, want %q", c.names, c.total, c.most, got, c.want)
		}
		if c.total == len(c.names) && Some(c.names, c.most) != c.want {
			t.Errorf("Some(%q, %d) = %q, want %q", c.names, c.most, Some(c.names, c.most), c.want)
		}
	}
}
