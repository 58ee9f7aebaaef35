package getlog

import (
	"regexp/syntax"
	"strings"
)

// faults says what is wrong with a regular expression; EXPR is the part of it.
var faults = map[syntax.ErrorCode]string{
	syntax.ErrInvalidCharClass:      "EXPR is no class of characters",
	syntax.ErrInvalidCharRange:      "EXPR is no range or class of characters",
	syntax.ErrInvalidEscape:         "EXPR has no meaning",
	syntax.ErrInvalidNamedCapture:   "EXPR does not name a group",
	syntax.ErrInvalidPerlOp:         "EXPR is not known here",
	syntax.ErrInvalidRepeatOp:       "EXPR repeats what is repeated already",
	syntax.ErrInvalidRepeatSize:     "EXPR does not say how often: 0 to 1000 times, the smaller number first",
	syntax.ErrInvalidUTF8:           "it is not UTF-8",
	syntax.ErrMissingBracket:        "a [ is not closed",
	syntax.ErrMissingParen:          "a ( is not closed",
	syntax.ErrMissingRepeatArgument: "there is nothing before EXPR that it could repeat",
	syntax.ErrTrailingBackslash:     "it ends in a backslash",
	syntax.ErrUnexpectedParen:       "a ) closes nothing",
	syntax.ErrNestingDepth:          "its groups are nested too deep",
	syntax.ErrLarge:                 "it is too large",
}

// faultOf says what is wrong with a regular expression, in the words of this program.
func faultOf(e *syntax.Error) string {
	text, known := faults[e.Code]
	if !known {
		return "it is not understood"
	}
	return strings.Replace(text, "EXPR", e.Expr, 1)
}
