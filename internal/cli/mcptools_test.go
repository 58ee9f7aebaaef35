package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/mcpcmd"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestToolsHaveFlags: every argument of a tool is a flag of its command, of the same type,
// and no tool reads files, runs programs or chooses another cluster.
func TestToolsHaveFlags(t *testing.T) {
	io, _ := output.Test()
	root := NewRoot(&factory.Factory{IO: io, Env: func(string) string { return "" }})
	types := map[string][]string{"string": {"string", "age", "time", "duration", "memory", "choice"}, "integer": {"int", "int64", "int32"}, "boolean": {"bool"}, "array": {"stringArray", "stringSlice"}}
	banned := []string{"kubeconfig", "context", "sandbox", "snapshot", "output", "upload", "env-file", "config-file", "recipe", "edit", "notify-exec", "notify-url", "debug", "watch", "follow", "profile"}
	tools := mcpcmd.Flags()
	if len(tools) < 20 {
		t.Fatalf("%d tools", len(tools))
	}
	for name, list := range tools {
		c, _, err := root.Find(strings.Fields(list[0]))
		if err != nil || c == root {
			t.Errorf("%s: no command %s", name, list[0])
			continue
		}
		for _, text := range list[1:] {
			kind, flag, ok := strings.Cut(text, " --")
			if !ok {
				kind, flag = "", strings.TrimPrefix(text, "--")
			}
			flag, short, _ := strings.Cut(flag, " -")
			f := c.Flags().Lookup(flag)
			if f == nil {
				f = c.InheritedFlags().Lookup(flag)
			}
			switch {
			case f == nil:
				t.Errorf("%s: %s has no --%s", name, list[0], flag)
			case kind != "" && f.Shorthand != short:
				t.Errorf("%s: the letter of --%s is %q, not %q", name, flag, f.Shorthand, short)
			case slices.Contains(banned, flag):
				t.Errorf("%s: --%s is not for agents", name, flag)
			case kind != "" && !slices.Contains(types[kind], f.Value.Type()):
				t.Errorf("%s: --%s is a %s, not %s", name, flag, f.Value.Type(), kind)
			}
		}
	}
}
