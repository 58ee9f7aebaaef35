package getlog

import (
	"regexp/syntax"
	"strings"
)

// faults words what is wrong with a regular expression; EXPR stands for the faulty part.
var faults = map[syntax.ErrorCode]string{
	syntax.ErrInvalidCharClass:      "EXPR is not a valid character class",
	syntax.ErrInvalidCharRange:      "EXPR is not a valid character range",
	syntax.ErrInvalidEscape:         "EXPR is not a valid escape",
	syntax.ErrInvalidNamedCapture:   "EXPR is not a valid group name",
	syntax.ErrInvalidPerlOp:         "EXPR is not supported",
	syntax.ErrInvalidRepeatOp:       "EXPR repeats a repetition",
	syntax.ErrInvalidRepeatSize:     "EXPR is not a valid repeat count: must be 0 to 1000, the smaller number first",
	syntax.ErrInvalidUTF8:           "not valid UTF-8",
	syntax.ErrMissingBracket:        "missing ]",
	syntax.ErrMissingParen:          "missing )",
	syntax.ErrMissingRepeatArgument: "nothing to repeat before EXPR",
	syntax.ErrTrailingBackslash:     "backslash at the end",
	syntax.ErrUnexpectedParen:       "unexpected )",
	syntax.ErrNestingDepth:          "groups nested too deeply",
	syntax.ErrLarge:                 "too large",
}

// faultOf returns what is wrong with a regular expression.
func faultOf(e *syntax.Error) string {
	text, known := faults[e.Code]
	if !known {
		return "not a valid regular expression"
	}
	return strings.Replace(text, "EXPR", e.Expr, 1)
}
