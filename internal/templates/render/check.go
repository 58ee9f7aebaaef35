package render

import (
	"errors"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/validate"
)

// manyFaults is how many faults Check names.
const manyFaults = 1000

// Check finds all faults of a template's text at once: those that Parse reports, and those of every rendering,
// independent of the values of its parameters. They are sorted by position, without duplicates and without
// faults that only follow from others. With faults, t has the documents that could be read; it may be nil. notes are hints.
func Check(name, source string, data []byte) (t *parse.Template, faults []parse.Fault, notes []string) {
	return CheckAllowing(name, source, data, nil)
}

// CheckAllowing is Check for a template whose objects may have fields that the known types of their kinds lack.
func CheckAllowing(name, source string, data []byte, allow schema.Allow) (t *parse.Template, faults []parse.Fault, notes []string) {
	t, complete, err := parse.Read(name, source, data, manyFaults, allow)
	var found []error
	if err != nil {
		found = append(found, err)
	}
	if t != nil && len(t.Docs) > 0 {
		found = append(found, trial(t, complete, func(*validate.Fault) bool { return true })...)
	}
	if len(found) > 0 {
		return t, parse.FaultsIn(found), nil
	}
	for _, p := range t.Params {
		if _, wellKnown := setting.OfPlaceholder(p.Name); p.Declared && !wellKnown && !slices.Contains(t.Mentioned, p.Name) {
			notes = append(notes, "parameter "+p.Name+" is declared but not used")
		}
	}
	for _, d := range t.Docs {
		notes = append(notes, t.ShellNotes(d)...)
	}
	return t, nil, notes
}

// Read reads a template, as parse.Text does. Where the text has faults, the error also lists those that every job of it
// has; not those that a setting can mend which was given, such as a missing image: given reports a flag that was.
func Read(name, source string, data []byte, allow schema.Allow, given func(flag string) bool) (*parse.Template, error) {
	t, complete, err := parse.Read(name, source, data, parse.Screenful, allow)
	if err == nil {
		return t, nil
	}
	if t == nil || len(t.Docs) == 0 {
		return nil, err
	}
	var more []error
	var tries []errs.Suggestion
	stays := func(f *validate.Fault) bool {
		if slices.ContainsFunc(f.Try(), func(s errs.Suggestion) bool { return given(strings.TrimPrefix(s.Args[0], "--")) }) {
			return false
		}
		tries = append(tries, f.Try()...)
		return true
	}
	for _, one := range trial(t, complete, stays) {
		if l := new(manifest.LineError); errors.As(one, &l) {
			more = append(more, l)
		}
	}
	err = parse.WithFaults(err, more)
	if e := new(errs.Error); errors.As(err, &e) {
		e.Suggest(tries...)
	}
	return nil, err
}
