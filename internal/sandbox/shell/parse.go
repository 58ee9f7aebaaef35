package shell

import (
	"errors"
	"fmt"
	"strings"
)

// parse splits a script into commands.
func (s *Shell) parse(text string) ([]step, error) {
	p := parser{text: text}
	for p.i < len(p.text) {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	p.endWord()
	p.endStep("")
	return p.steps, nil
}

type parser struct {
	text  string
	i     int
	after string // operator before the present command
	steps []step
	words []word
	word  word
	in    bool // inside a word
}

func (p *parser) next() error {
	c := p.text[p.i]
	rest := p.text[p.i:]
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		p.endWord()
		p.i++
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"):
		p.endWord()
		p.endStep(rest[:2])
		p.i += 2
	case c == '|':
		p.endWord()
		p.endStep("|")
		p.i++
	case c == ';' || c == '\n':
		p.endWord()
		p.endStep("")
		p.i++
	case strings.HasPrefix(rest, ">&2"):
		p.add(piece{text: ">&2"})
		p.i += 3
	case strings.HasPrefix(rest, ">>"), c == '<', c == '>':
		op := rest[:1]
		if strings.HasPrefix(rest, ">>") {
			op = ">>"
		}
		if p.in && !p.word.quoted && len(p.word.pieces) == 1 && p.word.pieces[0] == (piece{text: "2"}) {
			op, p.word, p.in = "2"+op, word{}, false
		}
		p.endWord()
		p.words = append(p.words, word{redirect: op})
		p.i += len(strings.TrimPrefix(op, "2"))
	case strings.IndexByte("&`(){}*", c) >= 0:
		return fmt.Errorf("the simulated shell does not support %q", string(c))
	case c == '\'':
		end := strings.IndexByte(rest[1:], '\'')
		if end < 0 {
			return errors.New("a closing quote is missing")
		}
		p.add(piece{text: rest[1 : 1+end]})
		p.word.quoted = true
		p.i += end + 2
	case c == '"':
		return p.doubleQuoted()
	case c == '\\' && len(rest) > 1:
		p.add(piece{text: rest[1:2]})
		p.i += 2
	case c == '$':
		p.variable()
	default:
		p.add(piece{text: string(c)})
		p.i++
	}
	return nil
}

func (p *parser) doubleQuoted() error {
	p.add(piece{})
	p.word.quoted = true
	for p.i++; p.i < len(p.text); {
		switch c := p.text[p.i]; {
		case c == '"':
			p.i++
			return nil
		case c == '$':
			p.variable()
		case c == '\\' && p.i+1 < len(p.text) && strings.IndexByte("\"\\$`", p.text[p.i+1]) >= 0:
			p.add(piece{text: p.text[p.i+1 : p.i+2]})
			p.i += 2
		default:
			p.add(piece{text: string(c)})
			p.i++
		}
	}
	return errors.New("a closing quote is missing")
}

// variable reads $NAME, ${NAME} or $?.
func (p *parser) variable() {
	rest := p.text[p.i+1:]
	braces := strings.HasPrefix(rest, "{")
	if braces {
		rest = rest[1:]
	}
	n := 0
	for n < len(rest) && (rest[n] == '_' || rest[n] >= '0' && rest[n] <= '9' || rest[n] >= 'A' && rest[n] <= 'Z' || rest[n] >= 'a' && rest[n] <= 'z') {
		n++
	}
	if n == 0 && strings.HasPrefix(rest, "?") {
		n = 1
	}
	if n == 0 || braces && (n >= len(rest) || rest[n] != '}') {
		p.add(piece{text: "$"})
		p.i++
		return
	}
	p.add(piece{text: rest[:n], variable: true})
	p.i += 1 + n
	if braces {
		p.i += 2
	}
}

func (p *parser) add(x piece) {
	p.in = true
	p.word.pieces = append(p.word.pieces, x)
}

func (p *parser) endWord() {
	if p.in {
		p.words = append(p.words, p.word)
	}
	p.word, p.in = word{}, false
}

func (p *parser) endStep(next string) {
	if len(p.words) > 0 {
		p.steps = append(p.steps, step{p.after, p.words})
	}
	p.words, p.after = nil, next
}
