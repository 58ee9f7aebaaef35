package cli

import (
	"strings"
	"testing"

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

func count(m map[string]int) { m["a"]++ }
