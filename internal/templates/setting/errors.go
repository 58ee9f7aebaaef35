package setting

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Error is a value that a setting cannot have. It is the cause of the errors that this
// package makes, for programs that read values instead of text.
type Error struct {
	Setting Setting
	// Value is what was given, "" where it may be secret.
	Value string
	// Allowed are the values to choose from, where they can be listed.
	Allowed []string
	// Why completes "invalid SETTING VALUE: ".
	Why string
}

// Error returns the text, such as `invalid --node-count "0": must be at least 1`.
func (e *Error) Error() string {
	what := "invalid " + e.Setting.Flag()
	if e.Value != "" {
		what += " " + e.Value
	}
	return what + ": " + e.Why
}

func (e *Error) usage() *errs.Error { return errs.Usagef("%s", e.Error()).WithCause(e) }

// Invalid returns the error for a value that is refused because of why, which completes
// "invalid --x VALUE: ". The value is quoted.
func (s Setting) Invalid(value, why string, args ...any) *errs.Error {
	return (&Error{Setting: s, Value: manifest.QuoteText(value), Why: fmt.Sprintf(why, args...)}).usage()
}

// InvalidAt is Invalid for a path into an object, which is not quoted.
func (s Setting) InvalidAt(path, why string, args ...any) *errs.Error {
	return (&Error{Setting: s, Value: path, Why: fmt.Sprintf(why, args...)}).usage()
}

// InvalidSecret is Invalid for a value that no message may show.
func (s Setting) InvalidSecret(why string, args ...any) *errs.Error {
	return (&Error{Setting: s, Why: fmt.Sprintf(why, args...)}).usage()
}

// NotOneOf returns the error for a value that is not allowed.
func (s Setting) NotOneOf(value string, allowed []string) *errs.Error {
	return (&Error{Setting: s, Value: manifest.QuoteText(value), Allowed: allowed,
		Why: "must be " + manifest.OrList(allowed) + manifest.DidYouMean(errs.Near(value, allowed))}).usage()
}

// OutOfRange returns the error for a number below least or above most; most 0 is no bound.
func (s Setting) OutOfRange(n, least, most int) *errs.Error {
	why := "must be at least " + strconv.Itoa(least)
	if most > 0 && n > most {
		why = "must be at most " + strconv.Itoa(most)
	}
	return (&Error{Setting: s, Value: manifest.QuoteText(strconv.Itoa(n)), Why: why}).usage()
}

// NotANumber returns the error for text where a whole number is needed.
func (s Setting) NotANumber(value string) *errs.Error {
	return s.Invalid(value, "must be a whole number")
}

// Exclusive returns the error for settings that exclude each other.
func Exclusive(a, b Setting) *errs.Error {
	return errs.Usagef("%s cannot be used with %s", a, b)
}

// Requires returns the error for a setting that has no effect without another one.
func (s Setting) Requires(other Setting) *errs.Error {
	return errs.Usagef("%s is required with %s", other, s)
}

// NotFor returns the error for settings that a kind of job does not have.
func NotFor(kind string, settings ...Setting) *errs.Error {
	flags := make([]string, len(settings))
	for i, s := range settings {
		flags[i] = s.Flag()
	}
	verb := "does"
	if len(flags) > 1 {
		verb = "do"
	}
	last := len(flags) - 1
	list := flags[last]
	if last > 0 {
		list = strings.Join(flags[:last], ", ") + " and " + flags[last]
	}
	return errs.Usagef("%s %s not apply to %s", list, verb, words.WithArticle(kind))
}

// Option suggests the setting with a value.
func (s Setting) Option(value ...string) errs.Suggestion {
	return errs.Option(append([]string{s.Flag()}, value...)...)
}
