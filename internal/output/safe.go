package output

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Safe makes visible what could move the cursor, change colors or deceive the
// eye in text that came from elsewhere: control characters (C0, DEL, C1) and
// invalid bytes as \x1b, characters that reorder or hide text (bidirectional
// controls, zero-width spaces, tags) as \u202e; newline, tab and carriage
// return as \n, \t, \r. Text without any is returned as it is.
func Safe(s string) string { return makeSafe(s, false) }

// SafeLines is Safe, but newlines and tabs stay.
func SafeLines(s string) string { return makeSafe(s, true) }

func makeSafe(s string, lines bool) string {
	if !hasUnsafe(s, lines) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !unsafeIn(r, lines):
			b.WriteString(s[i : i+n])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0xA0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

// hasUnsafe reports whether makeSafe would change s.
func hasUnsafe(s string, lines bool) bool {
	for i := 0; i < len(s); {
		if c := s[i]; c >= 0x20 && c < 0x7F {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || unsafeIn(r, lines) {
			return true
		}
		i += n
	}
	return false
}

func unsafeIn(r rune, lines bool) bool {
	return unsafeRune(r) && !(lines && (r == '\n' || r == '\t'))
}

// unsafeRune reports whether a character acts on a terminal or hides from the
// eye. The joiners U+200C and U+200D are not among them: scripts and emoji need
// them.
func unsafeRune(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7F && r <= 0x9F: // C0, DEL, C1
		return true
	case r < 0xAD:
		return false
	case r == 0xAD, r == 0x61C, r == 0x180E, r == 0xFEFF: // soft hyphen, Arabic letter mark, vowel separator, byte order mark
		return true
	case r == 0x200B, r >= 0x200E && r <= 0x200F: // zero-width space, direction marks
		return true
	case r >= 0x2028 && r <= 0x202E: // line and paragraph separator, embeddings and overrides
		return true
	case r >= 0x2060 && r <= 0x206F: // invisible operators, isolates
		return true
	case r >= 0xFFF9 && r <= 0xFFFB: // interlinear annotations
		return true
	case r >= 0xE0000 && r <= 0xE007F: // tags
		return true
	}
	return false
}
