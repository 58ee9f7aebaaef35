package sweep

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

// Member is a job of a sweep.
type Member struct {
	Point Point
	// Created is when the job was created, Position where it was among the jobs of the command that started it.
	Created  time.Time
	Position int
}

// Order returns the indices of the jobs of a sweep in the order of their values, parameter by parameter: by number where all values of
// a parameter are numbers, else as the values were given, that is in the order in which the first job of each was started.
func Order(list []Member) []int {
	out := make([]int, len(list))
	for i := range list {
		out[i] = i
	}
	first := slices.Clone(out) // in the order of their start
	slices.SortStableFunc(first, func(a, b int) int {
		return cmp.Or(list[a].Created.Compare(list[b].Created), cmp.Compare(list[a].Position, list[b].Position))
	})
	var names []string
	given := map[Parameter]float64{}
	for _, i := range first {
		for _, p := range list[i].Point {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
			if _, seen := given[p]; !seen {
				given[p] = float64(len(given))
			}
		}
	}
	for _, name := range names {
		numbers(name, given)
	}
	slices.SortStableFunc(out, func(a, b int) int {
		for _, name := range names {
			x, hasX := given[Parameter{name, list[a].Point.Value(name)}]
			y, hasY := given[Parameter{name, list[b].Point.Value(name)}]
			switch {
			case !hasX && hasY: // a job without the parameter comes first
				return -1
			case hasX && !hasY:
				return 1
			case x != y:
				return cmp.Compare(x, y)
			}
		}
		return 0
	})
	return out
}

// numbers makes the values of a parameter their own order where all of them are numbers.
func numbers(name string, order map[Parameter]float64) {
	values := map[Parameter]float64{}
	for p := range order {
		if p.Name == name {
			n, err := strconv.ParseFloat(p.Value, 64)
			if err != nil || math.IsNaN(n) {
				return
			}
			values[p] = n
		}
	}
	for p, n := range values {
		order[p] = n
	}
}
