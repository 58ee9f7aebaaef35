package factory

import (
	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// Text is a flag whose text has a rule. A text that breaks it is refused before anything is asked or changed.
type Text struct {
	Name, Usage string
	// Must completes the error, for example "must be like us-west-2".
	Must string
	Fits func(string) bool
}

// AddText defines a Text, with what value holds as its default. No text at all is refused elsewhere, for all flags.
func AddText(fs *pflag.FlagSet, value *string, t Text) { fs.Var(&text{t, value}, t.Name, t.Usage) }

type text struct {
	Text
	value *string
}

func (t *text) String() string {
	if t.value == nil { // pflag's zero value
		return ""
	}
	return *t.value
}

func (t *text) Type() string { return "string" }

func (t *text) Set(given string) error {
	if given != "" && !t.Fits(given) {
		return errs.Usagef("invalid --%s %q: %s", t.Name, given, t.Must)
	}
	*t.value = given
	return nil
}
