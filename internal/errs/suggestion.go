package errs

import (
	"cmp"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Suggestion is something to try: a command of this program, options to add to the
// command that failed, or a command of another program. It is a value; the command
// line adds the namespace and the cluster of the run before it is printed.
type Suggestion struct {
	Kind SuggestionKind
	// Args are the words of the line, unquoted: for RunCommand the command and its
	// arguments without the name of the program.
	Args []string
	// Program is how this program was called, such as "kubectl hyperpod"; "" is "hyperpod".
	Program string
	// Note says what the line does; it is printed behind a "#".
	Note string
}

// SuggestionKind says what the words of a Suggestion are.
type SuggestionKind int

// The kinds of suggestions.
const (
	// RunCommand is a command of this program.
	RunCommand SuggestionKind = iota
	// addOption are options to add to the command that failed.
	addOption
	// OtherProgram is a command of another program.
	OtherProgram
)

// program is the name by which people call this program.
const program = "hyperpod"

// Run suggests a command of this program.
func Run(command string, args ...string) Suggestion {
	return Suggestion{Kind: RunCommand, Args: append([]string{command}, args...)}
}

// IsOption reports options to add to the command that failed.
func (s Suggestion) IsOption() bool { return s.Kind == addOption }

// Option suggests options to add to the command that failed.
func Option(args ...string) Suggestion { return Suggestion{Kind: addOption, Args: args} }

// Other suggests a command of another program.
func Other(args ...string) Suggestion { return Suggestion{Kind: OtherProgram, Args: args} }

// WithNote returns the suggestion with a note.
func (s Suggestion) WithNote(note string) Suggestion { s.Note = note; return s }

// WithArgs returns the suggestion with more words at its end; of a command that runs
// another one in a pod (exec JOB -- COMMAND), before the "--".
func (s Suggestion) WithArgs(args ...string) Suggestion {
	if len(args) == 0 {
		return s
	}
	own, rest := s.own()
	s.Args = append(append(append([]string(nil), own...), args...), rest...)
	return s
}

// Has reports whether the suggestion names one of the options, in any form
// ("-n x", "-nx", "--namespace=x").
func (s Suggestion) Has(options ...string) bool {
	own, _ := s.own()
	for _, a := range own {
		name, _, _ := strings.Cut(a, "=")
		for _, o := range options {
			if name == o || len(o) == 2 && o[0] == '-' && strings.HasPrefix(a, o) && !strings.HasPrefix(a, "--") {
				return true
			}
		}
	}
	return false
}

// own splits the words at a "--", behind which another program's follow.
func (s Suggestion) own() (own, rest []string) {
	for i, a := range s.Args {
		if a == "--" {
			return s.Args[:i], s.Args[i:]
		}
	}
	return s.Args, nil
}

// noteMark separates a line from its note, which a shell takes for a comment.
const noteMark = "   # "

// String returns the line as it can be pasted into a shell.
func (s Suggestion) String() string {
	line := words.ShellWords(s.Args)
	if s.Kind == RunCommand {
		line = strings.TrimSuffix(cmp.Or(s.Program, program)+" "+line, " ")
	}
	if s.Note != "" {
		line += noteMark + s.Note
	}
	return line
}
