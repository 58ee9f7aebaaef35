package startjob

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// boolWords takes the values out of the arguments that the official CLI v2 wants
// after its switches: --auto-resume true. A word that could be a job's name stays:
// without --name, or without a switch.
func (o *Options) boolWords(args []string) ([]string, error) {
	var given []*bool
	var flags []string
	for _, s := range []struct {
		flag string
		to   *bool
	}{{"auto-resume", &o.AutoResume}, {"deep-health-check-passed-nodes-only", &o.DeepHealthOnly}} {
		if o.changed(s.flag) {
			given, flags = append(given, s.to), append(flags, s.flag)
		}
	}
	isWord := func(s string) bool { return s == "true" || s == "false" }
	words := 0
	for _, a := range args {
		if isWord(a) {
			words++
		}
	}
	if len(given) == 0 || words == 0 || words > len(given) || o.Name == "" && words == len(args) && o.File == "" {
		return args, nil
	}
	if slices.Contains(args, "false") {
		if len(given) > 1 {
			return nil, errs.Usagef("which switch is false?").WithTry("--" + flags[0] + "=false")
		}
		*given[0] = false
	}
	return slices.DeleteFunc(slices.Clone(args), isWord), nil
}
