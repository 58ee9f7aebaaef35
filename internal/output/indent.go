package output

import (
	"bytes"
	"io"
)

// pieceSize is the number of bytes from which an indenter writes what it has. A smaller document is written at once.
const pieceSize = 64 << 10

// indenter indents compact JSON as json.Indent does, by one space, and escapes unsafe characters. It holds one piece of the
// text in memory. json.Indent holds all of it, which for a document of many teams is more than the rest of the command.
type indenter struct {
	to     io.Writer
	piece  []byte
	depth  int
	failed error // of to
}

// Write takes one whole document, as json.Encoder writes it.
func (w *indenter) Write(document []byte) (int, error) {
	begun := false // the last character began an object or an array
	for rest := document; len(rest) > 0 && w.failed == nil; {
		c, n := rest[0], 1
		switch c {
		case '{', '[':
			if begun {
				w.newline()
			}
			w.piece = append(w.piece, c)
			w.depth++
		case '}', ']':
			w.depth--
			if !begun {
				w.newline()
			}
			w.piece = append(w.piece, c)
		default:
			if begun {
				w.newline()
			}
			switch c {
			case ',':
				w.piece = append(w.piece, c)
				w.newline()
			case ':':
				w.piece = append(w.piece, ": "...)
			case '"':
				n = stringLength(rest)
				w.piece = append(w.piece, rest[:n]...)
			default:
				w.piece = append(w.piece, c)
			}
		}
		begun = c == '{' || c == '['
		if rest = rest[n:]; len(rest) == 0 || len(w.piece) >= pieceSize {
			_, w.failed = w.to.Write(escapeUnsafe(w.piece))
			w.piece = w.piece[:0]
		}
	}
	return len(document), w.failed
}

func (w *indenter) newline() {
	w.piece = append(w.piece, '\n')
	for range w.depth {
		w.piece = append(w.piece, ' ')
	}
}

// stringLength returns the length of the JSON string at the start of a text, with its quotes.
func stringLength(text []byte) int {
	for n := 1; ; {
		n += bytes.IndexByte(text[n:], '"') + 1
		escapes := 0
		for text[n-2-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return n
		}
	}
}
