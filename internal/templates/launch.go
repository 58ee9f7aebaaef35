package templates

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// findCommand reads the launching program and the script's arguments as words.
func (t *Template) findCommand(s *settings) error {
	var err error
	byParam, _ := t.said(s, pCommand)
	if s.command, err = words(orSaid(s.Command != "", s.Command, byParam)); err != nil {
		return errs.Usagef("--command: %v", err)
	}
	byParam, _ = t.said(s, pScriptArgs)
	if s.args, err = words(orSaid(len(s.ScriptArgs) > 0, manifest.AnyList(s.ScriptArgs), byParam)); err != nil {
		return errs.Usagef("--script-args: %v", err)
	}
	return nil
}

func orSaid(flagged bool, flag, param any) any {
	if flagged {
		return flag
	}
	return param
}

func words(v any) ([]string, error) {
	list, err := asList(v)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, w := range list.([]any) {
		out = append(out, manifest.TextOf(w))
	}
	return out, nil
}

// program is the name of the launching program: torchrun, hyperpodrun, mpirun or
// something that is not ours to give flags to.
func program(command []string) string {
	if len(command) == 0 {
		return ""
	}
	if n := len(command); n > 2 && command[n-2] == "-m" && strings.HasPrefix(command[n-1], "torch.distributed.") {
		return "torchrun"
	}
	return path.Base(command[0])
}

// launchCommand is the command that starts the training when neither values nor
// template name one.
func launchCommand(j *jobobject.View) []string {
	switch {
	case j.IsKind(kinds.MPIJob):
		return []string{"mpirun"}
	case j.IsKind(kinds.HyperPodPyTorchJob):
		return []string{"hyperpodrun"}
	}
	return []string{"torchrun"}
}

// mpirunFlags are the number of processes and the environment to pass on, which
// the workers' SSH sessions do not have otherwise. Slots and hosts come from the
// operator's hostfile.
func (s *settings) mpirunFlags(env []string) []string {
	flags := []string{"-np", strconv.Itoa(s.nodes.n * s.tasks.n)}
	for _, name := range env {
		flags = append(flags, "-x", name)
	}
	return flags
}

// environmentNames are the variables that a rendered job's launching container
// will have, sorted.
func (s *settings) environmentNames(job *jobobject.View) []string {
	names := append(manifest.SortedKeys(s.Environment), manifest.SortedKeys(s.fabric())...)
	for _, e := range s.SecretEnv {
		if e.Name != "" {
			names = append(names, e.Name)
		}
	}
	if job != nil {
		for _, r := range job.Roles() {
			for _, e := range jobobject.MapsIn(jobobject.Container(r.Pod())["env"]) {
				names = append(names, manifest.TextOf(e["name"]))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fabric is the environment that goes with EFA, nothing where there is none.
func (s *settings) fabric() map[string]string {
	if s.efa.n == 0 || s.nodes.n < 2 || !s.sized {
		return nil
	}
	env := map[string]string{"FI_PROVIDER": "efa"}
	if neuron(s.resource) { // AWS Neuron, "EFA for multi-node training"
		env["FI_EFA_USE_DEVICE_RDMA"], env["FI_EFA_FORK_SAFE"] = "1", "1"
	}
	return env
}

// layLaunch rewrites the command of the container that starts the training, for
// what the values say and the template has no placeholder for.
func (s *settings) layLaunch(t *Template, j *jobobject.View) error {
	script := s.EntryScript != "" && !t.uses(pEntryScript)
	command := s.Values.Command != "" && !t.uses(pCommand)
	args := len(s.ScriptArgs) > 0 && !t.uses(pScriptArgs)
	if script || command || args {
		for _, r := range j.Starters() {
			if err := s.launch(j, jobobject.Container(r.Pod()), script || command); err != nil {
				return err
			}
		}
	}
	return s.wrap(j)
}

func (s *settings) launch(j *jobobject.View, c map[string]any, anew bool) error {
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
			return errs.Usagef("--script-args: the manifest's container has no command that takes arguments").
				WithTry("--entry-script SCRIPT")
		}
		c[key] = append(slices.Clone(list), manifest.AnyList(s.args)...)
		return nil
	}
	if len(s.command) == 0 {
		s.command = launchCommand(j)
	}
	var rest []string
	switch program(s.command) {
	case "mpirun":
		rest = s.mpirunFlags(s.environmentNames(j))
	default:
		rest = s.torchrunFlags(j)
	}
	if s.EntryScript != "" {
		rest = append(rest, s.EntryScript)
	}
	c["command"] = manifest.AnyList(s.command)
	if rest = append(rest, s.args...); len(rest) > 0 {
		c["args"] = manifest.AnyList(rest)
	} else {
		delete(c, "args")
	}
	return nil
}

// wrap puts the shell lines of PreScript and PostScript around the command,
// which stays a list of words and so needs no quoting.
func (s *settings) wrap(j *jobobject.View) error {
	if len(s.PreScript)+len(s.PostScript) == 0 {
		return nil
	}
	for _, r := range j.Starters() {
		c := jobobject.Container(r.Pod())
		command, _ := c["command"].([]any)
		args, _ := c["args"].([]any)
		if len(command) == 0 {
			return errs.Usagef("--pre-script and --post-script need a command to go around, and the manifest leaves it to the image").
				WithTry("--command PROGRAM", "--entry-script SCRIPT")
		}
		lines := append(append(slices.Clone(s.PreScript), `"$@"`), s.PostScript...)
		c["command"] = []any{"/bin/bash", "-ec", strings.Join(lines, "\n"), "job"}
		c["args"] = append(slices.Clone(command), args...)
	}
	return nil
}

// uses tells whether the template mentions a well-known parameter.
func (t *Template) uses(name string) bool {
	return slices.ContainsFunc(t.mentioned, func(m string) bool { c, ok := canonical(m); return ok && c == name })
}
