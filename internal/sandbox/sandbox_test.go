package sandbox

import (
	"errors"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// checkErr wants an *errs.Error with an exit code whose text contains every word.
func checkErr(t *testing.T, err error, code errs.Exit, words ...string) {
	t.Helper()
	var e *errs.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not an errs.Error", err)
	}
	if errs.ExitOf(err) != code {
		t.Errorf("exit code %d, want %d: %v", errs.ExitOf(err), code, err)
	}
	text := errs.Text(err, false)
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in:\n%s", w, text)
		}
	}
}
