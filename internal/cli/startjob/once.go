package startjob

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// once is the text of a flag that may be given one time only: of two files the
// first would be left out without a word.
type once struct {
	to    *string
	given bool
}

func (o *once) Set(text string) error {
	if o.given {
		return errs.Usagef("--config-file is given twice").WithAdvice("put the files into one folder, or start them one after the other")
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
