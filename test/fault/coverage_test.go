package fault_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// elsewhere are the commands that no run of the matrices has, and why.
var elsewhere = map[string]string{
	"check-cluster-nodes":   "the requests of reboot-cluster-nodes, from the same package",
	"delete-cluster-nodes":  "the requests of reboot-cluster-nodes, from the same package",
	"replace-cluster-nodes": "the requests of reboot-cluster-nodes, from the same package",
	"get-token":             "signs a token; internal/cli/gettoken tests it",
	"port-forward":          "TestForward",
	"mcp":                   "TestMCP",
	"record":                "TestSoak of test/soak runs it behind faults",
	"open-console":          "opens a browser; its reads are those of get-job",
	"completion":            "sends no request",
	"config get":            "sends no request",
	"config set":            "sends no request",
	"config unset":          "sends no request",
	"config view":           "sends no request",
	"help":                  "sends no request",
	"version":               "sends no request",
	"validate-template":     "reads files; sends no request",
	"sandbox advance":       "works on a file of this machine; internal/sandbox has faults of files",
	"sandbox create":        "works on a file of this machine; internal/sandbox has faults of files",
	"sandbox delete":        "works on a file of this machine; internal/sandbox has faults of files",
	"sandbox list":          "works on a file of this machine; internal/sandbox has faults of files",
	"sandbox serve":         "is a server itself; internal/sandbox tests it",
}

// TestEveryCommand: a matrix runs each command, or elsewhere says why none does.
func TestEveryCommand(t *testing.T) {
	io, _ := output.Test()
	root := cli.NewRoot(&factory.Factory{IO: io, Env: os.Getenv, Now: time.Now, Version: "test"})
	lines := slices.Concat(onAWS, behindAWS, withWorkers)
	for _, c := range suite {
		lines = append(lines, c.args)
	}
	known := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		path := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
		if c == root || c.HasSubCommands() || !c.Runnable() || c.Hidden {
			return
		}
		known[path] = true
		run := slices.ContainsFunc(lines, func(line string) bool { return line == path || strings.HasPrefix(line, path+" ") })
		switch why, listed := elsewhere[path]; {
		case run && listed:
			t.Errorf("%s is in a matrix and in elsewhere", path)
		case !run && !listed:
			t.Errorf("no matrix runs %s, and elsewhere does not say why", path)
		case listed && why == "":
			t.Errorf("elsewhere has no reason for %s", path)
		}
	}
	walk(root)
	for path := range elsewhere {
		if !known[path] {
			t.Errorf("elsewhere has %s: unknown command", path)
		}
	}
}
