package cli

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// A fault of the program is an error like any other: exit code 1, and how to report it.
func TestInternalError(t *testing.T) {
	err := guarded("v1", func() error {
		count(nil)
		return nil
	})
	text := errs.Text(err, false)
	for _, want := range []string{"Error: internal error: assignment to entry in nil map\n", "at:       internal/cli/internal_test.go:", "version:  v1, ", "advice:   report this as a bug"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if errs.ExitOf(err) != errs.Failure || strings.Contains(text, "goroutine") || !strings.Contains(errs.Text(err, true), "goroutine") {
		t.Errorf("%d: %s", errs.ExitOf(err), errs.Text(err, true))
	}
	if err := guarded("v1", func() error { return nil }); err != nil {
		t.Error(err)
	}
}

// A panic of another goroutine ends the program with the same error. The test runs itself
// as the program.
func TestInternalErrorElsewhere(t *testing.T) {
	const role = "HYPERPOD_TEST_PANIC"
	if os.Getenv(role) != "" {
		os.Exit(Main([]string{"version"}, "v1", func(f *factory.Factory) { f.IO.Out = panicking{} }))
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestInternalErrorElsewhere$")
	cmd.Env = append(os.Environ(), role+"=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != int(errs.Failure) {
		t.Errorf("%v\n%s", err, out)
	}
	text := string(out)
	if !strings.HasPrefix(text, "Error: internal error: assignment to entry in nil map\n") || strings.Contains(text, "goroutine") || !strings.Contains(text, "at:       internal/cli/internal_test.go:") {
		t.Errorf("output:\n%s", text)
	}
}

// panicking is a writer that panics in another goroutine.
type panicking struct{}

func (panicking) Write([]byte) (int, error) {
	var g crash.Group
	g.Go(func() { count(nil) })
	g.Wait()
	select {} // the panic ends the program
}

func count(m map[string]int) { m["a"]++ }
