package resolve

import (
	"cmp"
	"path"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// findCommand reads the launching program and the script's arguments as words.
func (s *Plan) findCommand() error {
	var err error
	byParam, _ := s.fromParameters(setting.Command)
	if s.Launcher, err = wordsOf(orSaid(s.Command != "", s.Command, byParam)); err != nil {
		return setting.Command.InvalidSecret("%v", err)
	}
	byParam, _ = s.fromParameters(setting.ScriptArgs)
	if s.Arguments, err = wordsOf(orSaid(len(s.ScriptArgs) > 0, manifest.AnyList(s.ScriptArgs), byParam)); err != nil {
		return setting.ScriptArgs.InvalidSecret("%v", err)
	}
	return nil
}

func orSaid(flagged bool, flag, param any) any {
	if flagged {
		return flag
	}
	return param
}

func wordsOf(v any) ([]string, error) {
	list, err := parse.List(v)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, w := range list.([]any) {
		out = append(out, manifest.TextOf(w))
	}
	return out, nil
}

// Program returns the name of the launching program. The launchers that get flags are torchrun, hyperpodrun,
// accelerate and mpirun.
func Program(command []string) string {
	if len(command) == 0 {
		return ""
	}
	if n := len(command); n > 2 && command[n-2] == "-m" && strings.HasPrefix(command[n-1], "torch.distributed.") {
		return "torchrun"
	}
	return path.Base(command[0])
}

// LaunchCommand returns the command that starts the training if neither the values nor the template name one.
func LaunchCommand(j *jobobject.View) []string {
	return []string{cmp.Or(j.Kind.Launch().Program, "torchrun")}
}
