package errs

import "errors"

// Schema is the name and version of the JSON of an error. Fields may be added within a
// version.
const Schema = "hyperpod.error/v1"

// Document is an error as JSON.
type Document struct {
	Schema string
	// Code is the exit code in one word.
	Code     string
	ExitCode Exit
	// Message is what failed and why.
	Message string
	What    string
	Why     string
	Facts   []Fact
	// Suggestions are things to try.
	Suggestions []SuggestionDocument
	// Causes are the errors below, outermost first; only with debugging on.
	Causes []string `json:",omitempty"`
}

// SuggestionDocument is a Suggestion as JSON.
type SuggestionDocument struct {
	// Kind is Command (of this program), Options (to add to the command that failed) or
	// Other (a command of another program).
	Kind string
	// Args are the words, unquoted; of a command without the name of the program.
	Args []string
	// Line is the line as it can be pasted into a shell.
	Line string
	Note string
}

// Name returns the exit code in one word.
func (e Exit) Name() string {
	switch e {
	case OK:
		return "OK"
	case Usage:
		return "Usage"
	case No:
		return "No"
	case Denied:
		return "Denied"
	case NotFound:
		return "NotFound"
	case Pending:
		return "Pending"
	case Timeout:
		return "Timeout"
	case Interrupted:
		return "Interrupted"
	}
	return "Failure"
}

// DocumentOf returns the JSON document of an error, with its causes if debug is set.
func DocumentOf(err error, debug bool) Document {
	d := Document{Schema: Schema, Code: ExitOf(err).Name(), ExitCode: ExitOf(err), Message: err.Error(), What: err.Error(),
		Facts: []Fact{}, Suggestions: []SuggestionDocument{}}
	var e *Error
	if errors.As(err, &e) {
		d.What, d.Why = e.What, e.Why
		d.Facts = append(d.Facts, e.Facts...)
		for _, s := range e.Try {
			plain := s.WithNote("")
			d.Suggestions = append(d.Suggestions, SuggestionDocument{Kind: s.Kind.name(), Args: append([]string{}, s.Args...), Line: plain.String(), Note: s.Note})
		}
	}
	if debug {
		eachCause(err, func(text string) { d.Causes = append(d.Causes, text) })
	}
	return d
}

func (k SuggestionKind) name() string {
	switch k {
	case RunCommand:
		return "Command"
	case addOption:
		return "Options"
	}
	return "Other"
}
