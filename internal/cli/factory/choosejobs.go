package factory

import (
	"cmp"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// CheckChoice checks the flags that choose several jobs.
func (f *Factory) CheckChoice(sweep, selector string, mine bool) error {
	if err := checkSweep(sweep); err != nil {
		return err
	}
	if err := checkSelector(selector); err != nil {
		return err
	}
	return f.CheckMine(mine)
}

// CheckMine refuses --mine where the user has no name.
func (f *Factory) CheckMine(mine bool) error {
	if mine && f.User() == "" {
		return errs.Usagef("--mine requires your user name, and the environment has none").WithAdvice("set USER")
	}
	return nil
}

// checkSelector refuses an invalid --selector, with examples about
// the first label that it names.
func checkSelector(text string) error {
	_, err := labels.Parse(text)
	if err == nil {
		return nil
	}
	key := cmp.Or(labelName().FindString(text), "key")
	return errs.Usagef("invalid --selector %q: must be a label selector", text).
		Suggest(errs.Option("-l", key+"=value,other!=value"), errs.Option("-l", key+" in (a,b),!other")).WithCause(err)
}

// checkSweep refuses a --sweep that cannot be the name of one.
func checkSweep(name string) error {
	if len(validation.IsValidLabelValue(name)) > 0 {
		return Invalid("sweep", name, "must be the name of a sweep").Suggest(errs.Run("list-jobs", "-l", kinds.SweepLabel).WithNote("lists the jobs of all sweeps"))
	}
	return nil
}

// labelName finds what may be the name of a label.
var labelName = pattern.Lazy(`[A-Za-z0-9](?:[-._/A-Za-z0-9]*[A-Za-z0-9])?`)
