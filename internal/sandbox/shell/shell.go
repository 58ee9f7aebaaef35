// Package shell is the simulated shell of a sandbox, whose pods run no processes. It
// knows a few commands, and enough of sh to pass on exit codes, arguments and
// variables, so that exec can be tried.
package shell

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Shell is the environment of commands. The zero value has no variables.
type Shell struct {
	Hostname string
	Env      map[string]string
	// GPUs is the number of accelerators that nvidia-smi reports.
	GPUs int
	// Size returns the columns and lines of the terminal; nil without a terminal.
	Size func() (columns, lines int)
	// Files are the files of the pod; nil: it has none.
	Files *Files
	// After is the clock of sleep.
	After func(time.Duration) <-chan time.Time

	params []string // $0, $1, ... of a script
}

// Streams are the standard streams of a command. With TTY they are one terminal, and the
// shell echoes input and writes the terminal's line ends.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	TTY      bool
}

// The exit codes of shells.
const (
	misuse   = 2
	notFound = 127
	// interrupted is 128 and the number of the signal.
	interrupted = 130
)

// Run runs a program with its arguments and returns its exit code.
func (s *Shell) Run(ctx context.Context, argv []string, std Streams) int {
	if std.In == nil {
		std.In = strings.NewReader("")
	}
	if std.TTY {
		std.Out = crlf{std.Out}
		std.Err = std.Out
	}
	return s.run(ctx, argv, std, 0)
}

type command func(s *Shell, ctx context.Context, args []string, std Streams) int

// commands returns the known commands.
func commands() map[string]command {
	all := map[string]command{
		"true":       func(*Shell, context.Context, []string, Streams) int { return 0 },
		"false":      func(*Shell, context.Context, []string, Streams) int { return 1 },
		"echo":       echo,
		"hostname":   func(s *Shell, _ context.Context, _ []string, std Streams) int { return say(std, s.Hostname) },
		"pwd":        func(_ *Shell, _ context.Context, _ []string, std Streams) int { return say(std, "/") },
		"env":        env,
		"printenv":   printenv,
		"cat":        cat,
		"sleep":      sleep,
		"stty":       stty,
		"nvidia-smi": nvidiaSMI,
		"help":       help,
	}
	maps.Copy(all, fileCommands())
	return all
}

func (s *Shell) run(ctx context.Context, argv []string, std Streams, depth int) int {
	name := argv[0][strings.LastIndexByte(argv[0], '/')+1:]
	switch name {
	case "sh", "bash":
		return s.sh(ctx, argv[1:], std, depth)
	}
	if c, ok := commands()[name]; ok {
		return c(s, ctx, argv[1:], std)
	}
	fmt.Fprintf(std.Err, "sandbox: %s: not found; a sandbox runs no processes, its simulated shell knows: %s\n", argv[0], strings.Join(names(), " "))
	return notFound
}

func names() []string { return slices.Sorted(maps.Keys(withShell(commands()))) }

func withShell(c map[string]command) map[string]command {
	c["sh"], c["exit"] = nil, nil
	return c
}

func say(std Streams, text string) int {
	fmt.Fprintln(std.Out, text)
	return 0
}

func echo(_ *Shell, _ context.Context, args []string, std Streams) int {
	end := "\n"
	if len(args) > 0 && args[0] == "-n" {
		end, args = "", args[1:]
	}
	fmt.Fprint(std.Out, strings.Join(args, " ")+end)
	return 0
}

func env(s *Shell, _ context.Context, _ []string, std Streams) int {
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		fmt.Fprintf(std.Out, "%s=%s\n", k, s.Env[k])
	}
	return 0
}

func printenv(s *Shell, ctx context.Context, args []string, std Streams) int {
	if len(args) == 0 {
		return env(s, ctx, args, std)
	}
	code := 0
	for _, a := range args {
		if v, ok := s.Env[a]; ok {
			fmt.Fprintln(std.Out, v)
		} else {
			code = 1
		}
	}
	return code
}

func cat(s *Shell, _ context.Context, args []string, std Streams) int {
	if len(args) > 0 && args[0] != "-" {
		return s.each("cat", args, std, func(_ string, in io.Reader) error {
			_, err := io.Copy(std.Out, in)
			return err
		})
	}
	if std.TTY {
		in := bufio.NewReader(std.In)
		for {
			line, err := readLine(in, std.Out)
			if err != nil {
				return 0
			}
			fmt.Fprintln(std.Out, line)
		}
	}
	if _, err := io.Copy(std.Out, std.In); err != nil {
		return 1
	}
	return 0
}

func sleep(s *Shell, ctx context.Context, args []string, std Streams) int {
	if len(args) != 1 {
		fmt.Fprintln(std.Err, "sleep: one argument is required: seconds")
		return misuse
	}
	n, err := strconv.ParseFloat(args[0], 64)
	if err != nil || n < 0 || n > 1e6 {
		fmt.Fprintf(std.Err, "sleep: invalid time interval %q\n", args[0])
		return 1
	}
	select {
	case <-s.After(time.Duration(n * float64(time.Second))):
		return 0
	case <-ctx.Done():
		return interrupted
	}
}

func stty(s *Shell, _ context.Context, args []string, std Streams) int {
	if len(args) != 1 || args[0] != "size" || s.Size == nil {
		fmt.Fprintln(std.Err, "stty: only `stty size` works, and only in a terminal")
		return 1
	}
	columns, lines := s.Size()
	fmt.Fprintln(std.Out, lines, columns)
	return 0
}

func nvidiaSMI(s *Shell, _ context.Context, _ []string, std Streams) int {
	if s.GPUs == 0 {
		fmt.Fprintln(std.Out, "No devices were found")
		return 6
	}
	for i := range s.GPUs {
		fmt.Fprintf(std.Out, "GPU %d: simulated accelerator of a sandbox\n", i)
	}
	return 0
}

func help(_ *Shell, _ context.Context, _ []string, std Streams) int {
	fmt.Fprintln(std.Out, "This is the simulated shell of a sandbox. It runs no processes. Commands:")
	return say(std, strings.Join(names(), " "))
}

// crlf writes line ends for a terminal.
type crlf struct{ w io.Writer }

func (c crlf) Write(p []byte) (int, error) {
	_, err := io.WriteString(c.w, strings.ReplaceAll(string(p), "\n", "\r\n"))
	return len(p), err
}
