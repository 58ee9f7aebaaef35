package factory

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Missing says on stderr what could not be read: what is forbidden in a line,
// with the right that would show it, what a file does not have in another, and
// each failure on its own. Kinds that the cluster does not serve are no news.
func (f *Factory) Missing(missing []state.Missing) {
	var forbidden, where, notInFile []string
	everywhere := false
	for _, m := range missing {
		switch {
		case m.Reason == state.Failed:
			f.Notef("warning: %v", m.Err)
		case m.Reason == state.NotInFile:
			notInFile = append(notInFile, m.Resource.Plural)
		case m.Reason == state.Forbidden && m.Verb == "list" && m.Resource.Namespaced && m.Namespace == "":
			everywhere = true
		case m.Reason == state.Forbidden:
			forbidden = append(forbidden, m.Resource.Plural)
			if m.Namespace != "" {
				where = append(where, m.Namespace)
			}
		}
	}
	if everywhere {
		f.Notef("note: only namespaces that you may work in are shown: you have no right to list in all of them")
	}
	if len(notInFile) > 0 {
		f.Notef("note: not shown, as the file has none: %s", NameSet(notInFile))
	}
	if len(forbidden) > 0 {
		text := "note: not shown, for want of the right to list them: " + NameSet(forbidden)
		if len(where) > 0 {
			text += " (in " + NameSet(where) + ")"
		}
		f.Notef("%s", text)
	}
}

// NameSet renders names sorted, each once.
func NameSet(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
