// Package sweep makes the jobs of a parameter sweep: one job for each combination of values,
// with a name, labels and variables of its own. It is pure.
package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// Parameter is one value of one job.
type Parameter struct{ Name, Value string }

// Point is one combination: a parameter of each axis, in the order of the axes.
type Point []Parameter

// Code says what is wrong with an axis.
type Code string

// The codes.
const (
	NoValues   Code = "NoValues"   // there is no NAME=, or nothing behind it
	BadName    Code = "BadName"    // it cannot be the name of a variable
	EmptyValue Code = "EmptyValue" // a value is missing between commas
	BadRange   Code = "BadRange"   // the range is not FROM..TO or FROM..TO..STEP
	TwiceName  Code = "TwiceName"  // two axes have one name
	TwiceValue Code = "TwiceValue" // an axis has a value twice
	TooMany    Code = "TooMany"    // there are more combinations than the limit
)

// Error is a sweep that cannot be made.
type Error struct {
	Code Code
	// Text is what is wrong: the axis as it was given, or the value.
	Text string
	// Count is the number of combinations of TooMany, math.MaxInt64 for more.
	Count int64
}

// Error implements error.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Text }

// axis is a parameter with its values. A range is not expanded before the combinations are
// counted.
type axis struct {
	name   string
	values []string
	count  int64
	text   string
}

var (
	variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,49}$`) })
	span     = pattern.Lazy(`^(-?[0-9]+)\.\.(-?[0-9]+)(?:\.\.(-?[0-9]+))?$`)
)

// Parse reads axes, NAME=VALUE,VALUE with ranges FROM..TO and FROM..TO..STEP of whole numbers,
// and returns their combinations, the last axis running fastest. More than limit are an error.
func Parse(texts []string, limit int) ([]Point, error) {
	var axes []axis
	total := int64(1)
	for _, text := range texts {
		a, err := parseAxis(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(axes, func(b axis) bool { return b.name == a.name }) {
			return nil, &Error{Code: TwiceName, Text: a.name}
		}
		axes = append(axes, a)
		if total = times(total, a.count); total == 0 {
			return nil, &Error{Code: NoValues, Text: text}
		}
	}
	if total > int64(limit) {
		return nil, &Error{Code: TooMany, Text: strings.Join(texts, " "), Count: total}
	}
	points := []Point{{}}
	for _, a := range axes {
		values, err := a.expand()
		if err != nil {
			return nil, err
		}
		var next []Point
		for _, p := range points {
			for _, v := range values {
				next = append(next, append(p[:len(p):len(p)], Parameter{a.name, v}))
			}
		}
		points = next
	}
	return points, nil
}

// times multiplies without an overflow.
func times(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

func parseAxis(text string) (axis, error) {
	name, list, found := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	switch {
	case !found || strings.TrimSpace(list) == "":
		return axis{}, &Error{Code: NoValues, Text: text}
	case !variable().MatchString(name):
		return axis{}, &Error{Code: BadName, Text: name}
	}
	a := axis{name: name, text: text}
	for _, v := range strings.Split(list, ",") {
		v = strings.TrimSpace(v)
		n := int64(1)
		switch {
		case v == "":
			return axis{}, &Error{Code: EmptyValue, Text: text}
		case span().MatchString(v):
			from, to, step, ok := bounds(v)
			if !ok {
				return axis{}, &Error{Code: BadRange, Text: v}
			}
			n = steps(from, to, step)
		}
		a.values = append(a.values, v)
		if a.count += n; a.count < 0 {
			a.count = math.MaxInt64
		}
	}
	return a, nil
}

// bounds reads a range. ok is false for numbers that are too large, and for a step that does
// not lead from the one to the other.
func bounds(text string) (from, to, step int64, ok bool) {
	m := span().FindStringSubmatch(text)
	from, errFrom := strconv.ParseInt(m[1], 10, 64)
	to, errTo := strconv.ParseInt(m[2], 10, 64)
	step = 1
	if to < from {
		step = -1
	}
	var errStep error
	if m[3] != "" {
		step, errStep = strconv.ParseInt(m[3], 10, 64)
	}
	ok = errFrom == nil && errTo == nil && errStep == nil && step != 0 && step != math.MinInt64 && (from == to || (to > from) == (step > 0))
	return from, to, step, ok
}

// steps counts the numbers of a range, math.MaxInt64 for more.
func steps(from, to, step int64) int64 {
	if step < 0 {
		from, to, step = to, from, -step
	}
	distance := uint64(to) - uint64(from) // of ordered numbers: never negative
	n := distance / uint64(step)
	if n >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n) + 1
}

// expand returns the values, with those of the ranges.
func (a axis) expand() ([]string, error) {
	var out []string
	seen := map[string]bool{}
	add := func(v string) error {
		if seen[v] {
			return &Error{Code: TwiceValue, Text: a.name + "=" + v}
		}
		seen[v] = true
		out = append(out, v)
		return nil
	}
	for _, v := range a.values {
		if !span().MatchString(v) {
			if err := add(v); err != nil {
				return nil, err
			}
			continue
		}
		from, to, step, _ := bounds(v)
		for n, i := steps(from, to, step), int64(0); i < n; i++ {
			if err := add(strconv.FormatInt(from+i*step, 10)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// String returns the parameters as NAME=VALUE,NAME=VALUE. Values have no commas.
func (p Point) String() string {
	var out []string
	for _, one := range p {
		out = append(out, one.Name+"="+one.Value)
	}
	return strings.Join(out, ",")
}

// Value returns the value of a parameter, "" without it.
func (p Point) Value(name string) string {
	for _, one := range p {
		if one.Name == name {
			return one.Value
		}
	}
	return ""
}

// Map returns the values by name.
func (p Point) Map() map[string]string {
	out := make(map[string]string, len(p))
	for _, one := range p {
		out[one.Name] = one.Value
	}
	return out
}

// Labels returns the labels of a job of the sweep: its name, and each parameter whose value
// can be a label's.
func (p Point) Labels(sweep string) map[string]string {
	out := map[string]string{kinds.SweepLabel: sweep}
	for _, one := range p {
		if len(validation.IsValidLabelValue(one.Value)) == 0 {
			out[kinds.SweepParameterPrefix+one.Name] = one.Value
		}
	}
	return out
}

// Of returns the sweep that a job belongs to, "" for none, and its parameters.
func Of(labels, annotations map[string]string) (string, Point) {
	name := labels[kinds.SweepLabel]
	if name == "" {
		return "", nil
	}
	var p Point
	for _, one := range strings.Split(annotations[kinds.SweepAnnotation], ",") {
		if k, v, ok := strings.Cut(one, "="); ok {
			p = append(p, Parameter{k, v})
		}
	}
	return name, p
}

// Names returns names for the jobs: the name of the sweep and the parameters, as far as they
// can be in a name of at most longest characters. Where two would be equal, or one would be
// too long, a sum of the parameters takes their place.
func Names(sweep string, points []Point, longest int) []string {
	out := make([]string, len(points))
	times := map[string]int{}
	for i, p := range points {
		out[i] = sweep + "-" + p.text(true)
		if len(out[i]) > longest {
			out[i] = sweep + "-" + p.text(false)
		}
		if len(out[i]) > longest {
			out[i] = ""
		}
		times[out[i]]++
	}
	for i, p := range points {
		if out[i] == "" || times[out[i]] > 1 {
			sum := sha256.Sum256([]byte(p.String()))
			out[i] = sweep[:min(len(sweep), max(longest-13, 1))] + "-" + hex.EncodeToString(sum[:])[:12]
		}
	}
	return out
}

// text returns the parameters as part of a name: lower case, without what a name cannot have.
func (p Point) text(names bool) string {
	var parts []string
	for _, one := range p {
		if names {
			parts = append(parts, plain(one.Name))
		}
		parts = append(parts, plain(one.Value))
	}
	return strings.Trim(strings.Join(parts, "-"), "-")
}

var unusable = pattern.Lazy(`[^a-z0-9]+`)

// plain writes a value with the characters of a name. A minus in front stays visible, a plus
// says nothing.
func plain(v string) string {
	v = strings.ToLower(strings.ReplaceAll(v, "+", ""))
	if strings.HasPrefix(v, "-") {
		v = "minus" + v[1:]
	}
	if v = strings.Trim(unusable().ReplaceAllString(v, "-"), "-"); v == "" {
		return "x"
	}
	return v
}
