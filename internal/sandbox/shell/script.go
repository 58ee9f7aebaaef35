package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
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
			inner := *s
			inner.params = args[min(i+2, len(args)):]
			code, _ := inner.script(ctx, script, std, depth, 0)
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
	for len(steps) > 0 {
		first := steps[0]
		line := steps[:1]
		for len(line) < len(steps) && steps[len(line)].after == "|" {
			line = steps[:len(line)+1]
		}
		steps = steps[len(line):]
		if ctx.Err() != nil {
			return interrupted, true
		}
		if first.after == "&&" && code != 0 || first.after == "||" && code == 0 {
			continue
		}
		if code, done = s.pipeline(ctx, line, std, depth, code); done {
			return code, true
		}
	}
	return code, false
}

// pipeline runs commands at the same time, the output of each as the input of the next.
// The code is that of the last.
func (s *Shell) pipeline(ctx context.Context, line []step, std Streams, depth, last int) (code int, done bool) {
	if len(line) == 1 {
		return s.step(ctx, line[0], std, depth, last)
	}
	var running crash.Group
	defer running.Wait()
	in := std.In
	for _, st := range line[:len(line)-1] {
		from, to := io.Pipe()
		here := std
		here.In, here.Out = in, to
		before := in
		running.Go(func() {
			s.step(ctx, st, here, depth, last)
			_ = to.Close()
			hangUp(before)
		})
		in = from
	}
	std.In = in
	code, _ = s.step(ctx, line[len(line)-1], std, depth, last)
	hangUp(in)
	return code, false
}

// hangUp ends the command that writes into a pipe which nobody reads any more.
func hangUp(in io.Reader) {
	if p, ok := in.(*io.PipeReader); ok {
		_ = p.Close()
	}
}

// step runs one command.
func (s *Shell) step(ctx context.Context, st step, std Streams, depth, last int) (code int, done bool) {
	argv, own, end, err := s.expand(st.words, last, std)
	defer end()
	switch {
	case err != nil:
		fmt.Fprintf(std.Err, "sh: %v\n", err)
		return 1, false
	case len(argv) == 0:
		return last, false
	case argv[0] == "exit":
		if len(argv) > 1 {
			n, _ := strconv.Atoi(argv[1])
			last = n & 0xFF
		}
		return last, true
	}
	code = s.run(ctx, argv, own, depth+1)
	for _, out := range []io.Writer{own.Out, own.Err} {
		if file, ok := out.(*outFile); ok && file.err != nil {
			return complain(std, "sh", "write error", file.err), false
		}
	}
	return code, false
}

// outFile is a file that the output of a command goes to. It keeps the first error, for commands that do not look at it.
type outFile struct {
	io.Writer
	err error
}

// Write implements io.Writer.
func (f *outFile) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	if f.err == nil {
		f.err = err
	}
	return n, err
}

// step is one command; after is the operator between it and the previous one.
type step struct {
	after string
	words []word
}

// word is a word of a command; a quoted word is not a redirection. The word after one
// with redirect set is a file.
type word struct {
	pieces   []piece
	quoted   bool
	redirect string
}

// piece is a part of a word: text, or the name of a variable.
type piece struct {
	text     string
	variable bool
}

// expand replaces variables, and removes and applies redirections. end closes their
// files.
func (s *Shell) expand(words []word, last int, std Streams) (argv []string, own Streams, end func(), err error) {
	var files []io.Closer
	end = func() {
		for _, f := range files {
			_ = f.Close()
		}
	}
	redirect := ""
	for _, w := range words {
		if w.redirect != "" {
			redirect = w.redirect
			continue
		}
		text := s.text(w, last)
		switch {
		case redirect != "":
			f, err := s.redirected(redirect, text, &std)
			if err != nil {
				return nil, std, end, fmt.Errorf("%s: %s", text, reason(err))
			}
			if f != nil {
				files = append(files, f)
			}
			redirect = ""
		case !w.quoted && (text == ">&2" || text == "1>&2"):
			std.Out = std.Err
		default:
			argv = append(argv, text)
		}
	}
	return argv, std, end, nil
}

// text returns a word with its variables replaced.
func (s *Shell) text(w word, last int) string {
	var b strings.Builder
	for _, p := range w.pieces {
		switch {
		case !p.variable:
			b.WriteString(p.text)
		case p.text == "?":
			b.WriteString(strconv.Itoa(last))
		case p.text[0] >= '0' && p.text[0] <= '9':
			if n, err := strconv.Atoi(p.text); err == nil && n < len(s.params) {
				b.WriteString(s.params[n])
			}
		default:
			b.WriteString(s.Env[p.text])
		}
	}
	return b.String()
}

// redirected opens a file for a stream. It returns nil for /dev/null.
func (s *Shell) redirected(op, name string, std *Streams) (io.Closer, error) {
	var out io.Writer = io.Discard
	var file io.Closer
	switch {
	case op == "<" && name == "/dev/null":
		std.In = strings.NewReader("")
		return nil, nil
	case op == "<":
		f, err := s.open(name)
		if err != nil {
			return nil, err
		}
		std.In = f
		return f, nil
	case name != "/dev/null":
		flags := os.O_TRUNC
		if strings.HasSuffix(op, ">>") {
			flags = os.O_APPEND
		}
		f, err := s.create(name, flags)
		if err != nil {
			return nil, err
		}
		out, file = &outFile{Writer: f}, f
	}
	if strings.HasPrefix(op, "2") {
		std.Err = out
	} else {
		std.Out = out
	}
	return file, nil
}
