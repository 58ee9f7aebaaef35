package factory

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

func TestAddText(t *testing.T) {
	value := "usual"
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	AddText(fs, &value, Text{Name: "word", Usage: "a word", Must: "must be one word", Fits: func(s string) bool { return !strings.Contains(s, " ") }})
	if got := fs.FlagUsages(); !strings.Contains(got, `--word string   a word (default "usual")`) {
		t.Errorf("usage: %s", got)
	}
	if err := fs.Parse([]string{"--word", "other"}); err != nil || value != "other" {
		t.Errorf("%q, %v", value, err)
	}
	if err := fs.Parse([]string{"--word="}); err != nil || value != "" {
		t.Errorf("empty: %q, %v", value, err)
	}
	err := fs.Parse([]string{"--word", "a b"})
	if errs.ExitOf(err) != errs.Usage || !strings.Contains(err.Error(), `invalid --word "a b": must be one word`) || value != "" {
		t.Errorf("%q, %v", value, err)
	}
}
