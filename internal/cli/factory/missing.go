package factory

import (
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Missing says on stderr which of the things that a command lists are not shown:
// for want of a right in a line, as a file does not have them in another, and each
// failure on its own. Kinds that the cluster does not serve are no news.
func (f *Factory) Missing(missing []state.Missing) {
	l := f.sort(missing)
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
		f.Notef("note: only namespaces that you may work in are shown: you have no right to list in all of them")
	}
	if len(l.file) > 0 {
		f.Notef("note: not shown, as the file has %s", l.file)
	}
	if len(names) > 0 {
		text := "note: not shown, for want of the right to list them: " + NameSet(names)
		if len(where) > 0 {
			text += " (in " + NameSet(where) + ")"
		}
		f.Notef("%s", text)
	}
}

// MissingFigures is Missing for a command whose figures rest on what others have:
// those that cannot be told are shown as ?, and one line says which right would
// show them.
func (f *Factory) MissingFigures(missing []state.Missing) {
	l := f.sort(missing)
	if len(l.file) > 0 {
		f.Notef("note: shown is what the file has, and ? where that is not enough: it has %s", l.file)
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
	f.Notef("note: shown is what you may read, and ? where that is not enough: the right to %s %s in the whole cluster would show the rest", verbs, NameSet(names))
}

// lacks is what could not be read, by why.
type lacks struct {
	forbidden []state.Missing
	// file says what a file does not have, after "it has": "no nodes".
	file string
}

// sort tells what is missing apart, and says each failure.
func (f *Factory) sort(missing []state.Missing) lacks {
	var l lacks
	var none, elsewhere []string
	within := map[string][]string{} // kinds by namespace
	for _, m := range missing {
		switch m.Reason {
		case state.Failed:
			f.Notef("warning: %v", m.Err)
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
		more := slices.DeleteFunc(within[ns], func(name string) bool { // said of them all
			return slices.Contains(none, name) || slices.Contains(elsewhere, name)
		})
		if len(more) > 0 {
			parts = append(parts, "of namespace "+ns+" no "+NameSet(more))
		}
	}
	if len(elsewhere) > 0 {
		parts = append(parts, "of other namespaces no "+NameSet(elsewhere))
	}
	l.file = strings.Join(parts, ", and ")
	return l
}

// NameSet renders names sorted, each once.
func NameSet(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
