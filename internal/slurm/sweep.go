package slurm

import (
	"net/url"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Sweep is what a job of a parameter sweep has in its comment: jobs of Slurm have no labels.
type Sweep struct {
	Name string
	// Sum tells apart jobs whose scripts differ in more than the parameters.
	Sum   string
	Point sweep.Point
}

// The first two pairs of a comment. Parameters follow; their names have no "/".
const (
	sweepKey = kinds.SweepLabel
	sumKey   = kinds.DefinitionAnnotation
)

// Comment returns the comment of a job: pairs as in the query of a URL, so that any value is a
// plain word for sbatch.
func (s Sweep) Comment() string {
	pairs := []string{sweepKey + "=" + escaped(s.Name), sumKey + "=" + escaped(s.Sum)}
	for _, p := range s.Point {
		pairs = append(pairs, p.Name+"="+escaped(p.Value))
	}
	return strings.Join(pairs, "&")
}

func escaped(v string) string { return strings.ReplaceAll(url.QueryEscape(v), "~", "%7E") }

// SweepOf reads the comment of a job; ok is false for one that belongs to no sweep.
func SweepOf(comment string) (s Sweep, ok bool) {
	pairs := strings.Split(comment, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		value, err := url.QueryUnescape(value)
		switch {
		case err != nil:
			return Sweep{}, false
		case i == 0 && (name != sweepKey || value == ""):
			return Sweep{}, false
		case i == 0:
			s.Name = value
		case i == 1 && name == sumKey:
			s.Sum = value
		default:
			s.Point = append(s.Point, sweep.Parameter{Name: name, Value: value})
		}
	}
	return s, true
}
