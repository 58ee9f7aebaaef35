package verdict

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/notetext"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Error words an error of the admission check. Other errors stay as they are.
func Error(err error) error {
	var e *check.Error
	if !errors.As(err, &e) {
		return notetext.Error(err)
	}
	what := "cannot check " + strings.TrimSpace(e.Kind+" "+e.Name)
	var out *errs.Error
	switch e.Code {
	case check.UnknownKind:
		out = unknownKind(e)
	case check.Prebuilt:
		out = errs.New(what, "its label "+kinds.PrebuiltLabel+" names a Workload, and Kueue decides about that one")
	case check.NoMetadata:
		out = errs.New("cannot check the job", "it has no metadata")
	case check.WrongType:
		out = errs.New(what, fmt.Sprintf("%s has the wrong type: %s", e.Field, e.Value))
	case check.WrongFields:
		out = errs.New(what, "its fields do not fit the kind")
	case check.Undecided:
		return errs.New(what, e.Err.Error()).WithCause(err)
	default:
		out = errs.New(what, e.Err.Error())
	}
	return out.WithCode(errs.Usage).WithCause(err)
}

func unknownKind(e *check.Error) *errs.Error {
	why := "Kueue has no integration for this kind"
	var names []string
	for _, gvk := range e.Supported {
		if gvk.Kind == e.Kind && strings.HasPrefix(e.APIVersion, gvk.Group+"/") {
			why = "Kueue governs it as " + gvk.GroupVersion().String()
		}
		names = append(names, gvk.Kind+" ("+gvk.GroupVersion().String()+")")
	}
	return errs.New(fmt.Sprintf("cannot check a %s (%s)", e.Kind, e.APIVersion), why).
		WithFact("supported", strings.Join(names, ", ")).Suggest(suggest.ServerDryRun())
}
