package startjob

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// once is the value of a flag that can be given only once. Of two files the first would be ignored silently.
type once struct {
	to    *string
	given bool
}

func (o *once) Set(text string) error {
	if o.given {
		return errs.Usagef("--config-file can be given only once").WithAdvice("put the files into one folder, or start them one after the other")
	}
	*o.to, o.given = text, true
	return nil
}

func (o *once) String() string {
	if o.to == nil {
		return ""
	}
	return *o.to
}

func (*once) Type() string { return "string" }
