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
)

// PriorityChoice is the priority class to use; Name is "" without one. Notes are
// for stderr.
type PriorityChoice struct {
	Name  string
	Value int32
	Notes []string
}

// prioritySuffix ends the names of the classes that task governance makes.
const prioritySuffix = "-priority"

// Priority finds the priority class that the flag means: its name, or its name
// without "-priority". An empty flag is no class, which ranks lowest.
func Priority(ctx context.Context, c *kube.Client, flag string) (PriorityChoice, error) {
	if flag == "" {
		return PriorityChoice{Notes: []string{"no priority class: the job ranks lowest"}}, nil
	}
	classes, err := state.ListPriorityClasses(ctx, c)
	switch {
	case kube.IsForbidden(err):
		return PriorityChoice{Name: flag, Notes: []string{"the priority class " + flag + " is used unchecked: " + unread(err, "priority classes")}}, nil
	case kube.IsNotServed(err):
		return PriorityChoice{Name: flag, Notes: []string{"the priority class " + flag + " has no effect: this cluster has no Kueue"}}, nil
	case err != nil:
		return PriorityChoice{}, err
	}
	for _, name := range []string{flag, flag + prioritySuffix} {
		for _, p := range classes {
			if p.Name == name {
				return PriorityChoice{Name: p.Name, Value: p.Value}, nil
			}
		}
	}
	return PriorityChoice{}, unknownPriority(flag, classes)
}

func unknownPriority(flag string, classes []state.PriorityClass) error {
	e := errs.NotFoundf("priority class %q does not exist on this cluster", flag)
	if len(classes) == 0 {
		return e.WithFact("it has", "none")
	}
	classes = slices.Clone(classes)
	slices.SortFunc(classes, func(a, b state.PriorityClass) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), strings.Compare(a.Name, b.Name))
	})
	var words, names []string
	for _, p := range classes {
		short := strings.TrimSuffix(p.Name, prioritySuffix)
		names = append(names, short)
		words = append(words, fmt.Sprintf("%s (%d)", short, p.Value))
	}
	advice := names[0]
	if near := errs.Near(flag, names); len(near) > 0 {
		advice = near[0]
	}
	return e.WithFact("it has", list(words)).WithTry("--priority " + advice)
}

func list(names []string) string { return strings.Join(names, ", ") }
