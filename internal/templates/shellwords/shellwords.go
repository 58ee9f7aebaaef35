package shellwords

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// Split splits text into words as a shell does. Blanks separate words, single and double quotes and backslashes
// protect them. Nothing is expanded.
func Split(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote == '\'':
			if r == '\'' {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\\' && i+1 < len(runes) && (quote == 0 || strings.ContainsRune("\"\\$`", runes[i+1])):
			i++
			word.WriteRune(runes[i])
			inWord = true
		case quote == '"':
			if r == '"' {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errs.Usagef("a quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
