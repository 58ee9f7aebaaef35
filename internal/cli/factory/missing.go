package factory

import (
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Missing reports on stderr what a list lacks: kinds that you have no permission to list, kinds that a snapshot does not
// have. It does not report kinds that the cluster does not serve, and leaves failures to Failures.
func (f *Factory) Missing(missing []state.Missing) { f.MissingOf("list", missing) }

// MissingOf is Missing for a result that is not a list: what names it.
func (f *Factory) MissingOf(what string, missing []state.Missing) {
	l := sortMissing(missing)
	var names, where []string
	everywhere := false
	for _, m := range l.forbidden {
		if m.Verb == "list" && m.Resource.Namespaced && m.Namespace == "" {
			everywhere = true
			continue
		}
		names = append(names, m.Resource.Plural)
		if m.Namespace != "" {
			where = append(where, m.Namespace)
		}
	}
	if everywhere {
		f.Notef("note: only your namespaces are shown: no permission to list in all namespaces")
	}
	if len(l.file) > 0 {
		f.Notef("note: the %s is incomplete: the file has %s", what, l.file)
	}
	if len(names) > 0 {
		text := "note: " + NameSet(names) + " are hidden: no permission to list them"
		if len(where) > 0 {
			slices.Sort(where)
			text += " in " + words.Some(slices.Compact(where), 8)
		}
		f.Notef("%s", text)
	}
}

// MissingFigures is like Missing, for a command whose figures depend on objects of others. Such a command shows ? for
// values that it cannot compute, and one line names the permission that it needs.
func (f *Factory) MissingFigures(missing []state.Missing) {
	l := sortMissing(missing)
	if len(l.file) > 0 {
		f.Notef("note: some values are unknown (?): the file has %s", l.file)
	}
	if len(l.forbidden) == 0 {
		return
	}
	var names []string
	verbs := "list"
	for _, m := range l.forbidden {
		names = append(names, m.Resource.Plural)
		if m.Verb == "watch" {
			verbs = "list and watch"
		}
	}
	f.Notef("note: some values are hidden (?): you need permission to %s %s in the whole cluster", verbs, NameSet(names))
}

// lacks is what could not be read, by reason.
type lacks struct {
	forbidden []state.Missing
	// file is what a file does not have, for example "no nodes".
	file string
}

// mostFailures is the number of different errors that are printed: a server that fails can fail for every namespace.
const mostFailures = 5

// Failures returns the errors of the reads that failed: the server was asked, and did not answer as it should. The result
// lacks what they would have shown, so the command prints it and fails. Nil if there are none.
func Failures(missing []state.Missing) (err error) {
	told := map[string]bool{}
	for _, m := range missing {
		if m.Reason != state.Failed || m.Err == nil || told[m.Err.Error()] {
			continue
		}
		if told[m.Err.Error()] = true; len(told) > mostFailures {
			continue
		}
		failure := m.Err
		if errs.ExitOf(failure) == errs.NotFound { // something was found
			failure = errs.Wrap(failure, "cannot read all").WithCode(errs.Failure)
		}
		err = errs.Also(err, failure)
	}
	if more := len(told) - mostFailures; more > 0 {
		err = errs.Also(err, errs.New(words.Count(more, "more read", "more reads")+" failed", ""))
	}
	return err
}

// Unreadable returns the error about the first of some kinds that could not be read, nil if all were. The missing part would
// read as if the cluster had none.
func Unreadable(what string, missing []state.Missing, of ...kinds.Resource) error {
	for _, m := range missing {
		if !slices.ContainsFunc(of, m.Of) {
			continue
		}
		switch m.Reason {
		case state.Forbidden:
			return errs.New(what, "no permission to list "+m.Resource.Plural).WithCode(errs.Denied)
		case state.NotInFile:
			return errs.New(what, "the file has no "+m.Resource.Plural)
		case state.NotServed:
			return errs.New(what, "it does not serve "+m.Resource.Plural).WithCause(m.Err)
		}
	}
	return nil
}

// sortMissing groups what is missing by reason.
func sortMissing(missing []state.Missing) lacks {
	var l lacks
	var none, elsewhere []string
	within := map[string][]string{} // kinds by namespace
	for _, m := range missing {
		switch m.Reason {
		case state.Forbidden:
			l.forbidden = append(l.forbidden, m)
		case state.NotInFile:
			switch {
			case m.Namespace != "":
				within[m.Namespace] = append(within[m.Namespace], m.Resource.Plural)
			case m.Partly:
				elsewhere = append(elsewhere, m.Resource.Plural)
			default:
				none = append(none, m.Resource.Plural)
			}
		}
	}
	var parts []string
	if len(none) > 0 {
		parts = append(parts, "no "+NameSet(none))
	}
	for _, ns := range slices.Sorted(maps.Keys(within)) {
		more := slices.DeleteFunc(within[ns], func(name string) bool { // listed for all namespaces
			return slices.Contains(none, name) || slices.Contains(elsewhere, name)
		})
		if len(more) > 0 {
			parts = append(parts, "no "+NameSet(more)+" of namespace "+ns)
		}
	}
	if len(elsewhere) > 0 {
		parts = append(parts, "no "+NameSet(elsewhere)+" of other namespaces")
	}
	l.file = words.Some(parts, 6)
	return l
}

// NameSet returns the names sorted and without duplicates, separated by commas.
func NameSet(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
