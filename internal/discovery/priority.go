package discovery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// PriorityChoice is the priority class to use; Name is "" without one.
type PriorityChoice struct {
	Name string
	// Value is the class's, if it is Known: without permission to list the classes it is not.
	Value int32
	Known bool
	Notes []Note
}

// prioritySuffix ends the names of the classes that task governance makes.
const prioritySuffix = "-priority"

// Priority finds the priority class by its name, or by its name without
// "-priority". Without a name there is no class, and the job ranks lowest.
func Priority(ctx context.Context, c *kube.Client, flag string) (PriorityChoice, error) {
	if flag == "" {
		return PriorityChoice{Notes: []Note{{Code: NoPriority}}}, nil
	}
	classes, err := state.ListPriorityClasses(ctx, c)
	switch {
	case kube.IsForbidden(err):
		return PriorityChoice{Name: flag, Notes: []Note{{Code: PriorityUnchecked, Name: flag, NotInFile: kube.IsNotInFile(err)}}}, nil
	case kube.IsNotServed(err):
		return PriorityChoice{Name: flag, Notes: []Note{{Code: PriorityNoKueue, Name: flag}}}, nil
	case err != nil:
		return PriorityChoice{}, err
	}
	for _, name := range []string{flag, flag + prioritySuffix} {
		for _, p := range classes {
			if p.Name == name {
				return PriorityChoice{Name: p.Name, Value: p.Value, Known: true}, nil
			}
		}
	}
	return PriorityChoice{}, unknownPriority(flag, classes)
}

func unknownPriority(flag string, classes []state.PriorityClass) error {
	e := errs.NotFoundf("priority class %q not found", flag)
	if len(classes) == 0 {
		return e.WithFact("available", "none")
	}
	classes = slices.Clone(classes)
	slices.SortFunc(classes, func(a, b state.PriorityClass) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), strings.Compare(a.Name, b.Name))
	})
	var described, names []string
	for _, p := range classes {
		short := strings.TrimSuffix(p.Name, prioritySuffix)
		names = append(names, short)
		described = append(described, fmt.Sprintf("%s (%d)", short, p.Value))
	}
	e = e.WithFact("available", strings.Join(described, ", "))
	if near := errs.Near(flag, names); len(near) > 0 {
		e = e.Suggest(suggest.PriorityClass(near[0]))
	}
	return e
}
