// Package words holds how counts, lists, amounts, ages and Kueue's reasons read on every
// screen and in every message, so that one thing has one name everywhere. It
// depends on no other package of this module.
package words

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Count returns a number with its noun: "1 pod", "2 pods".
func Count(n int, one, many string) string { return strconv.Itoa(n) + " " + Verb(n, one, many) }

// Verb returns the form that agrees with n: Verb(n, "is", "are").
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// All names all of n things: "the job", "both jobs", "all 3 jobs".
func All(n int, one, many string) string {
	switch n {
	case 1:
		return "the " + one
	case 2:
		return "both " + many
	}
	return "all " + Count(n, one, many)
}

// None names none of n things, before a verb that agrees with one: "neither job", "none of the 3 jobs". For one thing it is
// "the job", before a verb with "not".
func None(n int, one, many string) string {
	switch n {
	case 1:
		return "the " + one
	case 2:
		return "neither " + one
	}
	return "none of the " + Count(n, one, many)
}

// AfterCycles tells after how many scheduling cycles a simulation settles, behind a verb:
// " after 2 cycles". Without a cycle the scheduler had no job to decide on: none waits, or what each
// waits for stayed the same.
func AfterCycles(n int) string {
	if n == 0 {
		return " at once: no waiting job can start"
	}
	return " after " + Count(n, "cycle", "cycles")
}

// Ordinal returns a position in English: 1st, 2nd, 3rd, 11th.
func Ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// OneLine joins the lines and runs of spaces of a text with single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Clip shortens the [OneLine] form of a text to about most characters, at a word,
// and ends it in " ..." when something was left out.
func Clip(s string, most int) string {
	s = OneLine(s)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	cut := string([]rune(s)[:most])
	if i := strings.LastIndexAny(cut, ", "); i > most/2 {
		cut = strings.TrimRight(cut[:i], ", ")
	}
	return cut + " ..."
}

// Cut shortens a line to at most most characters: names and values, which have no words.
func Cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:max(most-1, 0)]) + "…"
	}
	return s
}

// ShellWord quotes a word for a POSIX shell where it needs quoting.
func ShellWord(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./:,@%+", r)
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	if name, value, ok := strings.Cut(w, "="); ok && strings.HasPrefix(name, "--") && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0 {
		return name + "=" + ShellWord(value)
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// ShellWords are words as one line for a shell.
func ShellWords(list []string) string {
	quoted := make([]string, len(list))
	for i, w := range list {
		quoted[i] = ShellWord(w)
	}
	return strings.Join(quoted, " ")
}
