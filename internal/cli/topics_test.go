package cli

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// TestMalformedForGo: Go ends a process with a malformed GOMEMLIMIT or fips140 before its first line of code. The topic has the
// messages.
func TestMalformedForGo(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for setting, message := range map[string]string{"GOMEMLIMIT=512MB": "fatal error: malformed GOMEMLIMIT", "GODEBUG=fips140=yes": "panic: fips140: unknown GODEBUG setting"} {
		cmd := exec.Command(self, "-test.run=^$")
		cmd.Env = append(os.Environ(), setting)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), message) || !strings.Contains(environmentTopic().Long, message) {
			t.Errorf("%s: %v: %.400s", setting, err, out)
		}
	}
	for _, value := range []string{"on", "off", "only", "debug"} {
		cmd := exec.Command(self, "-test.run=^$")
		cmd.Env = append(os.Environ(), "GODEBUG=fips140="+value)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("fips140=%s: %v: %.400s", value, err, out)
		}
	}
}

// TestTopics: the commands that help topics show have valid flags, and the topics name every setting and format.
func TestTopics(t *testing.T) {
	texts, commands := map[string]string{}, 0
	for _, topic := range helpTopics() {
		texts[topic.Name()] = topic.Long
		for line := range strings.Lines(topic.Long) {
			words, err := shellwords.Split(strings.TrimSpace(line))
			if err != nil || len(words) == 0 || words[0] != "hyperpod" || !strings.HasPrefix(line, "  ") {
				continue
			}
			if i := slices.Index(words, "all"); i > 0 && words[i-1] == "--json" {
				words = words[:i] // a list of two columns
			}
			if i := slices.Index(words, "exit-codes"); i > 0 {
				words = words[:i+1]
			}
			commands++
			io, _ := output.Test()
			f := &factory.Factory{IO: io, Env: func(string) string { return "" }, Now: time.Now, Version: "dev"}
			if err := Validate(context.Background(), f, words[1:]); err != nil {
				t.Errorf("%s: %s: %v", topic.Name(), strings.TrimSpace(line), err)
			}
		}
	}
	if commands < 15 {
		t.Errorf("%d commands", commands)
	}
	for _, key := range config.Keys() {
		if name := "HYPERPOD_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(key)); !strings.Contains(texts["environment"], name) {
			t.Errorf("environment lacks %s", name)
		}
	}
	for _, format := range []output.Name{output.JSON, output.YAML, output.TableFormat, output.Wide, output.NameFormat, output.Prometheus, output.Markdown, output.HTML, output.CSV} {
		if !strings.Contains(texts["output"], string(format)) {
			t.Errorf("output lacks %s", format)
		}
	}
}
