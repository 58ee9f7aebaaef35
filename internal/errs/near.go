package errs

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Near returns up to three of the names that a person who typed want may have
// meant, best first: names that start with it or contain it, then names a few
// typing errors away.
func Near(want string, names []string) []string {
	type scored struct {
		name  string
		score int
	}
	w := strings.ToLower(want)
	limit := tolerance(utf8.RuneCountInString(w))
	var out []scored
	for _, n := range names {
		l := strings.ToLower(n)
		switch d := distance(w, l, limit); {
		case w != "" && strings.HasPrefix(l, w):
			out = append(out, scored{n, 0})
		case d <= limit:
			out = append(out, scored{n, d})
		case len(w) >= 3 && (strings.Contains(l, w) || strings.Contains(w, l) && len(l) >= 3):
			out = append(out, scored{n, limit + 1})
		}
	}
	slices.SortStableFunc(out, func(a, b scored) int {
		if a.score != b.score {
			return a.score - b.score
		}
		return strings.Compare(a.name, b.name)
	})
	var res []string
	for _, s := range out {
		if len(res) == 3 {
			break
		}
		if !slices.Contains(res, s.name) {
			res = append(res, s.name)
		}
	}
	return res
}

// tolerance returns how many typing errors a word of n characters may have and still
// be recognised: none in one character, one in up to four, two, then a third.
func tolerance(n int) int {
	switch {
	case n <= 1:
		return 0
	case n <= 4:
		return 1
	}
	return max(2, n/3)
}

// distance returns the optimal string alignment distance (insert, delete, replace,
// swap of neighbours), or limit+1 once it must be larger than limit.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if diff := len(x) - len(y); diff > limit || -diff > limit {
		return limit + 1
	}
	prev2 := make([]int, len(y)+1)
	prev := make([]int, len(y)+1)
	cur := make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(y)]
}
