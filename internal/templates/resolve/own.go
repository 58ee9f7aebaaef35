package resolve

import (
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// Own reports whether the manifest is the user's own: a file without a header, or a copy of a job. A flag changes the field that
// it names there, and nothing that follows from it.
func (s *Plan) Own() bool { return s.Template.Plain || s.Template.Verbatim }

// Fills reports whether resources that the manifest omits are filled in.
func (s *Plan) Fills() bool { return s.Sized && !s.Own() }

// derives reports whether a number that the instance type suggests is used: the manifest is a template, or has a
// placeholder for the number.
func (s *Plan) derives(name setting.Setting) bool { return !s.Own() || s.Template.Uses(name) }
