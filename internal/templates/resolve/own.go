package resolve

import (
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// Own reports a manifest of the user: a file without a header. What it contains or omits changes only if a flag
// requests it.
func (s *Plan) Own() bool { return s.Template.Plain && !s.Template.Verbatim }

// Fills reports whether resources that the manifest omits are filled in. They are not if a flag replaces a
// placeholder of the user's own manifest: that is all that the flag does there.
func (s *Plan) Fills() bool {
	if !s.Sized || !s.Own() {
		return s.Sized
	}
	for _, name := range []setting.Setting{setting.InstanceType, setting.Accelerators, setting.EFA} {
		if s.Template.Uses(name) {
			return false
		}
	}
	return true
}

// Sizing is the given flag that a filled-in resource follows from.
func (s *Plan) Sizing() setting.Setting {
	switch {
	case s.InstanceType != "":
		return setting.InstanceType
	case s.Values.Accelerators != nil:
		return setting.Accelerators
	}
	return setting.EFA
}
