package render

import (
	"github.com/hyperpod-cli/hyperpod/internal/templates/fixed"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// Result is the result of a rendering.
type Result struct {
	// Objects are ready to be created, in the template's order.
	Objects []map[string]any
	// Job is the index of the job in Objects, -1 when there is none.
	Job int
	// Notices are remarks that are not errors.
	Notices []string

	// What the job asks for, as far as the rendering knows it: each pod's number of
	// processes and accelerators, and the resource the accelerators are counted in.
	InstanceType        string
	NodeCount           int
	TasksPerNode        int
	Accelerators        int
	AcceleratorResource string

	// Origin is what the job remembers of its template (see package origin), "" if no
	// parameter is left to remember.
	Origin string

	fixed []fixed.Value
}

// CheckFixed refuses objects that were changed after the rendering in fields that the template fixes.
func CheckFixed(t *parse.Template, rendered, changed Result) error {
	return fixed.Check(t, rendered.fixed, changed.Objects)
}
