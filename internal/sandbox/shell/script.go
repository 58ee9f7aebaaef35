package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxDepth limits how deep shells run shells.
const maxDepth = 8

// sh runs `sh -c SCRIPT`, or commands from stdin.
func (s *Shell) sh(ctx context.Context, args []string, std Streams, depth int) int {
	if depth > maxDepth {
		fmt.Fprintln(std.Err, "sh: too many nested shells")
		return misuse
	}
	script := ""
	for i, a := range args {
		if strings.HasPrefix(a, "-") && strings.Contains(a, "c") {
			if i+1 < len(args) {
				script = args[i+1]
			}
			code, _ := s.script(ctx, script, std, depth, 0)
			return code
		}
	}
	return s.interactive(ctx, std, depth)
}

// interactive reads commands line by line.
func (s *Shell) interactive(ctx context.Context, std Streams, depth int) int {
	if std.TTY {
		fmt.Fprintf(std.Out, "Simulated shell on %s: a sandbox runs no processes. `help` lists the commands.\n", s.Hostname)
	}
	in := bufio.NewReader(std.In)
	std.In = in
	for code := 0; ; {
		var line string
		var err error
		if std.TTY {
			fmt.Fprint(std.Out, "sandbox$ ")
			line, err = readLine(in, std.Out)
		} else {
			line, err = in.ReadString('\n')
		}
		if err != nil && line == "" || ctx.Err() != nil {
			return code
		}
		var done bool
		if code, done = s.script(ctx, line, std, depth, code); done {
			return code
		}
	}
}

// errEnd is Ctrl-D.
var errEnd = errors.New("end of input")

// readLine reads a typed line and echoes it, like a terminal.
func readLine(in *bufio.Reader, out io.Writer) (string, error) {
	var line []byte
	for {
		c, err := in.ReadByte()
		if err != nil {
			return "", err
		}
		switch {
		case c == '\r' || c == '\n':
			fmt.Fprint(out, "\n")
			return string(line), nil
		case c == 0x03: // Ctrl-C
			fmt.Fprint(out, "^C\n")
			return "", nil
		case c == 0x04 && len(line) == 0: // Ctrl-D
			fmt.Fprint(out, "\n")
			return "", errEnd
		case c == 0x7F || c == 0x08:
			if len(line) > 0 {
				line = line[:len(line)-1]
				fmt.Fprint(out, "\b \b")
			}
		case c >= 0x20:
			line = append(line, c)
			_, _ = out.Write([]byte{c})
		}
	}
}

// script runs commands joined by ; && || and newlines. done is true after `exit`.
func (s *Shell) script(ctx context.Context, text string, std Streams, depth, last int) (code int, done bool) {
	steps, err := s.parse(text)
	if err != nil {
		fmt.Fprintf(std.Err, "sandbox: %v\n", err)
		return misuse, false
	}
	code = last
	for _, st := range steps {
		if ctx.Err() != nil {
			return interrupted, true
		}
		if st.after == "&&" && code != 0 || st.after == "||" && code == 0 {
			continue
		}
		argv, own := s.expand(st.words, code, std)
		switch {
		case len(argv) == 0:
		case argv[0] == "exit":
			if len(argv) > 1 {
				n, _ := strconv.Atoi(argv[1])
				code = n & 0xFF
			}
			return code, true
		default:
			code = s.run(ctx, argv, own, depth+1)
		}
	}
	return code, false
}

// step is one command; after is the operator between it and the previous one.
type step struct {
	after string
	words []word
}

// word is a word of a command; a quoted word is not a redirection.
type word struct {
	pieces []piece
	quoted bool
}

// piece is a part of a word: text, or the name of a variable.
type piece struct {
	text     string
	variable bool
}

// expand replaces variables, and removes and applies a redirection of stdout to stderr.
func (s *Shell) expand(words []word, last int, std Streams) ([]string, Streams) {
	var argv []string
	for _, w := range words {
		var b strings.Builder
		for _, p := range w.pieces {
			switch {
			case !p.variable:
				b.WriteString(p.text)
			case p.text == "?":
				b.WriteString(strconv.Itoa(last))
			default:
				b.WriteString(s.Env[p.text])
			}
		}
		if text := b.String(); !w.quoted && (text == ">&2" || text == "1>&2") {
			std.Out = std.Err
		} else {
			argv = append(argv, text)
		}
	}
	return argv, std
}
