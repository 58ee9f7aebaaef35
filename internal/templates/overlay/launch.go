package overlay

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// applyLaunch rewrites the command of the container that starts the training, as far as the values set it and
// the template has no placeholder for it.
func (s *job) applyLaunch(j *jobobject.View) error {
	script := s.EntryScript != "" && !s.Template.Uses(setting.EntryScript)
	command := s.Values.Command != "" && !s.Template.Uses(setting.Command)
	args := len(s.ScriptArgs) > 0 && !s.Template.Uses(setting.ScriptArgs)
	if script || command || args {
		for _, r := range j.Starters() {
			if err := s.launch(j, jobobject.Container(r.Pod()), script || command); err != nil {
				return err
			}
		}
	}
	return s.wrap(j)
}

func (s *job) launch(j *jobobject.View, c map[string]any, anew bool) error {
	if c == nil {
		return nil
	}
	if !anew { // arguments alone go to what is there
		key := "args"
		if _, has := c["args"]; !has {
			key = "command"
		}
		list, _ := c[key].([]any)
		if len(list) == 0 || slices.Contains(list[:len(list)-1], any("-c")) {
			return errs.Usagef("%s cannot be used: the container has no command that takes arguments", setting.ScriptArgs).
				Suggest(setting.EntryScript.Option("SCRIPT"))
		}
		c[key] = append(slices.Clone(list), manifest.AnyList(s.Arguments)...)
		return nil
	}
	if len(s.Launcher) == 0 {
		s.Launcher = resolve.LaunchCommand(j)
	}
	var rest []string
	switch resolve.Program(s.Launcher) {
	case "mpirun":
		rest = s.MpirunFlags(s.EnvironmentNames(j))
	default:
		rest = s.TorchrunFlags(j)
	}
	if s.EntryScript != "" {
		rest = append(rest, s.EntryScript)
	}
	c["command"] = manifest.AnyList(s.Launcher)
	if rest = append(rest, s.Arguments...); len(rest) > 0 {
		c["args"] = manifest.AnyList(rest)
	} else {
		delete(c, "args")
	}
	return nil
}

// wrap puts the shell lines of PreScript and PostScript around the command,
// which stays a list of words and so needs no quoting.
func (s *job) wrap(j *jobobject.View) error {
	if len(s.PreScript)+len(s.PostScript) == 0 {
		return nil
	}
	for _, r := range j.Starters() {
		c := jobobject.Container(r.Pod())
		command, _ := c["command"].([]any)
		args, _ := c["args"].([]any)
		if len(command) == 0 {
			return errs.Usagef("%s and %s cannot be used: the manifest leaves the command to the image", setting.PreScript, setting.PostScript).
				Suggest(setting.Command.Option("PROGRAM"), setting.EntryScript.Option("SCRIPT"))
		}
		lines := append(append(slices.Clone(s.PreScript), `"$@"`), s.PostScript...)
		c["command"] = []any{"/bin/bash", "-ec", strings.Join(lines, "\n"), "job"}
		c["args"] = append(slices.Clone(command), args...)
	}
	return nil
}
