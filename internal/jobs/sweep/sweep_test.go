package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func texts(points []Point) (out []string) {
	for _, p := range points {
		out = append(out, p.String())
	}
	return out
}

// TestParse: the combinations, the last axis running fastest.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		axes string
		want string
	}{
		{"lr=1e-4,3e-4", "lr=1e-4 lr=3e-4"},
		{"lr=1e-4,3e-4 seed=1..3", "lr=1e-4,seed=1 lr=1e-4,seed=2 lr=1e-4,seed=3 lr=3e-4,seed=1 lr=3e-4,seed=2 lr=3e-4,seed=3"},
		{"n=8..2..-2", "n=8 n=6 n=4 n=2"},
		{"n=3..1", "n=3 n=2 n=1"},
		{"n=1..10..4", "n=1 n=5 n=9"},
		{"n=-1..1,5", "n=-1 n=0 n=1 n=5"},
		{"n=7..7", "n=7"},
		{"mode=a..b", "mode=a..b"},
		{"v=0.1..0.3", "v=0.1..0.3"},
	} {
		got, err := Parse(strings.Fields(c.axes), 100)
		if have := strings.Join(texts(got), " "); err != nil || have != c.want {
			t.Errorf("%s: %s, %v", c.axes, have, err)
		}
	}
}

// TestParseFaults: each fault has its code, and no range is expanded before it is counted.
func TestParseFaults(t *testing.T) {
	for _, c := range []struct {
		axes  []string
		code  Code
		count int64
	}{
		{[]string{"lr"}, NoValues, 0},
		{[]string{"lr="}, NoValues, 0},
		{[]string{"=1"}, BadName, 0},
		{[]string{"a-b=1"}, BadName, 0},
		{[]string{"a.b=1"}, BadName, 0},
		{[]string{"lr=1,,2"}, EmptyValue, 0},
		{[]string{"lr=1", "lr=2"}, TwiceName, 0},
		{[]string{"lr=1,1"}, TwiceValue, 0},
		{[]string{"lr=1..3,2"}, TwiceValue, 0},
		{[]string{"n=1..3..0"}, BadRange, 0},
		{[]string{"n=1..3..-1"}, BadRange, 0},
		{[]string{"n=1..99999999999999999999"}, BadRange, 0},
		{[]string{"n=1..10000"}, TooMany, 10000},
		{[]string{"a=1..100", "b=1..100"}, TooMany, 10000},
		{[]string{"a=-9223372036854775808..9223372036854775807"}, TooMany, math.MaxInt64},
		{[]string{"a=1..9223372036854775807", "b=1..9223372036854775807"}, TooMany, math.MaxInt64},
	} {
		_, err := Parse(c.axes, 100)
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code || e.Count != c.count {
			t.Errorf("%v: %v", c.axes, err)
		}
	}
}

// TestNames: names are readable, valid, and different for different parameters.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		axes, want string
	}{
		{"lr=1e-4,3e-4 seed=1..2", "tune-lr-1e-4-seed-1 tune-lr-1e-4-seed-2 tune-lr-3e-4-seed-1 tune-lr-3e-4-seed-2"},
		{"lr=0.001", "tune-lr-0-001"},
		{"x=-1,1", "tune-x-minus1 tune-x-1"},
		{"x=1e+4", "tune-x-1e4"},
		{"Opt=Adam,SGD", "tune-opt-adam tune-opt-sgd"},
		{"url=s3://b/a", "tune-url-s3-b-a"},
	} {
		points, err := Parse(strings.Fields(c.axes), 100)
		if err != nil {
			t.Fatal(err)
		}
		if have := strings.Join(Names("tune", points, 50), " "); have != c.want {
			t.Errorf("%s: %s", c.axes, have)
		}
	}
	for _, axes := range []string{"a=1,1.0,1-0", "a=A,a", "a=x,ä,ö", "a=1-b-2,1 b=3,2-b-3", "long_parameter_name=1..3 another_long_name=0.12345678901234567890,2 third_name=9"} {
		points, err := Parse(strings.Fields(axes), 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, longest := range []int{20, 40, 63} {
			names := Names("tune", points, longest)
			for _, n := range names {
				if len(n) > longest || len(validation.IsDNS1035Label(n)) > 0 {
					t.Errorf("%s: %q", axes, n)
				}
			}
			slices.Sort(names)
			if len(slices.Compact(names)) != len(points) {
				t.Errorf("%s: %v", axes, names)
			}
		}
	}
}

// TestOf: what a job says about its sweep is what made it.
func TestOf(t *testing.T) {
	points, err := Parse([]string{"lr=1e-4", "path=/a b/c", "opt=Adam"}, 10)
	if err != nil {
		t.Fatal(err)
	}
	p := points[0]
	labels := p.Labels("tune")
	if len(labels) != 3 || labels["cli.hyperpod/sweep.lr"] != "1e-4" || labels["cli.hyperpod/sweep.path"] != "" {
		t.Errorf("labels %v", labels)
	}
	name, got := Of(labels, map[string]string{"cli.hyperpod/sweep-parameters": p.String()})
	if name != "tune" || fmt.Sprint(got) != fmt.Sprint(p) || got.Value("path") != "/a b/c" || got.Value("none") != "" {
		t.Errorf("%s %v", name, got)
	}
	if name, got := Of(nil, nil); name != "" || got != nil {
		t.Errorf("%s %v", name, got)
	}
}

// FuzzParse: whatever is typed, points are different, bounded, and have valid names.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"lr=1e-4,3e-4 seed=1..5", "a=1..9..2 b=-1..1", "x=..", "a=1..2..3..4", "n=9223372036854775807..9223372036854775807", "a=,", "a=\x00,b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		points, err := Parse(strings.Split(text, " "), 50)
		if err != nil {
			return
		}
		if len(points) == 0 || len(points) > 50 {
			t.Fatalf("%d points", len(points))
		}
		seen := map[string]bool{}
		for i, name := range Names("tune", points, 40) {
			if seen[name] || len(name) > 40 || len(validation.IsDNS1035Label(name)) > 0 {
				t.Errorf("name %q of %s", name, points[i])
			}
			seen[name] = true
			if _, again := Of(points[i].Labels("tune"), map[string]string{"cli.hyperpod/sweep-parameters": points[i].String()}); fmt.Sprint(again) != fmt.Sprint(points[i]) {
				t.Errorf("%v becomes %v", points[i], again)
			}
		}
	})
}
