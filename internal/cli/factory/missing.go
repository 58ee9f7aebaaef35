package factory

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Missing says on stderr what could not be read: what is forbidden in one line,
// with the right that would show it, and each failure on its own. Kinds that the
// cluster does not serve are no news.
func (f *Factory) Missing(missing []state.Missing) {
	var forbidden, where []string
	for _, m := range missing {
		switch m.Reason {
		case state.Forbidden:
			forbidden = append(forbidden, m.Resource.FullName())
			if m.Namespace != "" {
				where = append(where, m.Namespace)
			}
		case state.Failed:
			f.Notef("warning: %v", m.Err)
		}
	}
	if len(forbidden) == 0 {
		return
	}
	slices.Sort(forbidden)
	slices.Sort(where)
	text := "note: not shown, for want of the right to list them: " + strings.Join(slices.Compact(forbidden), ", ")
	if len(where) > 0 {
		text += " (in " + strings.Join(slices.Compact(where), ", ") + ")"
	}
	f.Notef("%s", text)
}
