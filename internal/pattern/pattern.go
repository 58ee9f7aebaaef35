// Package pattern compiles regular expressions when they are first used. Otherwise every start of the program would
// compile those of all packages: 600 kB, 4,000 allocations.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that compiles a pattern on its first call. The text is a constant, and TestAll compiles all of
// them. Copies of this function in all packages would take 98 kB of the binary.
//
//go:noinline
func Lazy(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
