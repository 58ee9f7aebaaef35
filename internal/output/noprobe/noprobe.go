// Package noprobe keeps lipgloss from examining the terminal while the program
// starts. lipgloss makes a writer for standard output in a package variable,
// and on a terminal that reads the terminfo database and, inside tmux, runs a
// `tmux` process: in every run, `version` included. The writer is never used
// here (internal/output decides on color itself), so the examination is pure
// cost. It is skipped when NO_COLOR is set; this package sets it for as long as
// packages are being initialised.
//
// It works because a package that needs nothing but the standard library is
// initialised before one that needs packages later in the alphabet (The Go
// Programming Language Specification, "Program initialization"): lipgloss needs
// github.com/rivo/uniseg and github.com/xo/terminfo. A test holds it.
package noprobe

import "os"

const variable = "NO_COLOR"

type before struct {
	value string
	set   bool
}

var saved = hide()

func hide() before {
	v, ok := os.LookupEnv(variable)
	// An error leaves the variable as it was, and lipgloss does what it likes.
	_ = os.Setenv(variable, "1")
	return before{v, ok}
}

// Restore gives the variable back. Package output calls it once, in its own
// initialisation, which follows that of lipgloss.
func Restore() {
	if saved.set {
		_ = os.Setenv(variable, saved.value)
		return
	}
	_ = os.Unsetenv(variable)
}
