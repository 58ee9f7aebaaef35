package sbatch

import "strings"

// word is a word of a shell line, with what is known of its text before the script runs.
type word struct {
	line, column int
	parts        []part
}

// kind is what a part of a word is.
type kind int

// The kinds.
const (
	literal  kind = iota
	variable      // $NAME: one variable
	array         // ${NAME[@]}: all words of an array
	opaque        // what only a shell can expand
)

type part struct {
	kind kind
	text string // literal text, name, or the source of what is opaque
	// quoted: operators and patterns in the text are plain characters.
	quoted bool
}

// text returns the literal text of a word; ok is false if it has other parts.
func (w word) text() (s string, ok bool) {
	for _, p := range w.parts {
		if p.kind != literal {
			return "", false
		}
		s += p.text
	}
	return s, true
}

// operator reports whether an unquoted word separates commands or redirects.
func (w word) operator() bool {
	return len(w.parts) == 1 && !w.parts[0].quoted && w.parts[0].kind == literal && strings.ContainsAny(w.parts[0].text, "|&;<>()")
}

// lexer splits lines into words. Positions count from 1, columns in bytes.
type lexer struct {
	src          string
	at           int
	line, column int
}

func (l *lexer) peek() byte {
	if l.at < len(l.src) {
		return l.src[l.at]
	}
	return 0
}

func (l *lexer) next() byte {
	c := l.src[l.at]
	l.at++
	if l.column++; c == '\n' {
		l.line, l.column = l.line+1, 1
	}
	return c
}

// words splits a text. ok is false if a quote or a bracket is not closed.
func words(src string, line, column int) (out []word, ok bool) {
	l := &lexer{src: src, line: line, column: column}
	for l.at < len(src) {
		switch c := l.peek(); {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			l.next()
		case strings.HasPrefix(src[l.at:], "\\\n"):
			l.next()
			l.next()
		case c == '#':
			for l.at < len(src) && l.peek() != '\n' {
				l.next()
			}
		default:
			w, ok := l.word()
			if !ok {
				return out, false
			}
			out = append(out, w)
		}
	}
	return out, true
}

func (l *lexer) word() (word, bool) {
	w := word{line: l.line, column: l.column}
	if strings.IndexByte("|&;<>()", l.peek()) >= 0 {
		start := l.at
		for l.at < len(l.src) && strings.IndexByte("|&;<>()", l.peek()) >= 0 {
			l.next()
		}
		w.parts = []part{{text: l.src[start:l.at]}}
		return w, true
	}
	for l.at < len(l.src) {
		switch c := l.peek(); {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || strings.IndexByte("|&;<>()", c) >= 0:
			return w, true
		case strings.HasPrefix(l.src[l.at:], "\\\n"):
			l.next()
			l.next()
		case c == '\\':
			l.next()
			if l.at < len(l.src) {
				w.add(part{text: string(l.next()), quoted: true})
			}
		case c == '\'':
			l.next()
			end := strings.IndexByte(l.src[l.at:], '\'')
			if end < 0 {
				return w, false
			}
			w.add(part{text: l.take(end), quoted: true})
			l.next()
		case c == '"':
			if !l.quoted(&w) {
				return w, false
			}
		case c == '$' || c == '`':
			p, ok := l.expansion()
			if !ok {
				return w, false
			}
			w.parts = append(w.parts, p)
		case c == '*' || c == '?' || c == '[':
			w.parts = append(w.parts, part{kind: opaque, text: string(l.next())})
		default:
			w.add(part{text: l.take(run(l.src[l.at:], " \t\n\r|&;<>()\\'\"$`*?["))})
		}
	}
	return w, true
}

// run returns how many bytes come before one that means something; the first counts always.
func run(s, special string) int {
	if n := strings.IndexAny(s[1:], special); n >= 0 {
		return n + 1
	}
	return len(s)
}

// add appends text, together with the text before it.
func (w *word) add(p part) {
	if n := len(w.parts); n > 0 && w.parts[n-1].kind == literal && w.parts[n-1].quoted == p.quoted {
		w.parts[n-1].text += p.text
		return
	}
	w.parts = append(w.parts, p)
}

func (l *lexer) take(n int) string {
	start := l.at
	for range n {
		l.next()
	}
	return l.src[start:l.at]
}

// quoted reads a text in double quotes.
func (l *lexer) quoted(w *word) bool {
	l.next()
	before := len(w.parts)
	for l.at < len(l.src) {
		switch c := l.peek(); {
		case c == '"':
			l.next()
			if len(w.parts) == before { // "" is a word too
				w.parts = append(w.parts, part{quoted: true})
			}
			return true
		case c == '\\' && l.at+1 < len(l.src) && strings.IndexByte("\"\\$`\n", l.src[l.at+1]) >= 0:
			l.next()
			if c := l.next(); c != '\n' {
				w.add(part{text: string(c), quoted: true})
			}
		case c == '$' || c == '`':
			p, ok := l.expansion()
			if !ok {
				return false
			}
			p.quoted = true
			w.parts = append(w.parts, p)
		default:
			w.add(part{text: l.take(run(l.src[l.at:], "\"\\$`")), quoted: true})
		}
	}
	return false
}

// expansion reads what begins with $ or a backtick.
func (l *lexer) expansion() (part, bool) {
	rest := l.src[l.at:]
	if rest[0] == '`' {
		end := strings.IndexByte(rest[1:], '`')
		if end < 0 {
			return part{}, false
		}
		return part{kind: opaque, text: l.take(end + 2)}, true
	}
	switch {
	case len(rest) > 1 && (rest[1] == '(' || rest[1] == '{'):
		closing := map[byte]byte{'(': ')', '{': '}'}[rest[1]]
		depth := 0
		for i := 1; i < len(rest); i++ {
			if rest[i] == rest[1] {
				depth++
			} else if rest[i] == closing {
				if depth--; depth == 0 {
					text := l.take(i + 1)
					inside := text[2 : len(text)-1]
					name, all := strings.CutSuffix(inside, "[@]")
					switch {
					case rest[1] == '{' && all && isName(name):
						return part{kind: array, text: name}, true
					case rest[1] == '{' && isName(inside):
						return part{kind: variable, text: inside}, true
					}
					return part{kind: opaque, text: text}, true
				}
			}
		}
		return part{}, false
	case len(rest) > 1 && nameByte(rest[1], true):
		n := 2
		for n < len(rest) && nameByte(rest[n], false) {
			n++
		}
		return part{kind: variable, text: l.take(n)[1:]}, true
	case len(rest) > 1 && strings.IndexByte("@*#?$!0123456789-", rest[1]) >= 0:
		return part{kind: opaque, text: l.take(2)}, true
	}
	return part{text: l.take(1)}, true
}

func nameByte(c byte, first bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || !first && c >= '0' && c <= '9'
}

func isName(s string) bool {
	for i := range len(s) {
		if !nameByte(s[i], i == 0) {
			return false
		}
	}
	return s != ""
}
