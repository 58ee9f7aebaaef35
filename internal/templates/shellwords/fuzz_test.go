package shellwords

import (
	"slices"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// FuzzSplit: the words of a line, quoted for a shell, are the same words again.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"a 'b c' \"d $e\" \\f", "'", "\"\\", "a#b # c", "\x00", "é\u2028x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		list, err := Split(line)
		if err != nil {
			return
		}
		again, err := Split(words.ShellWords(list))
		if err != nil || !slices.Equal(again, list) {
			t.Errorf("%q is %q, quoted %q, then %q, %v", line, list, words.ShellWords(list), again, err)
		}
	})
}
