package jobtext

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func TestReported(t *testing.T) {
	percent, left := 40, 10*time.Minute
	for want, j := range map[string]state.Job{
		"":                          {},
		"40 % done":                 {Progress: &percent},
		"about 10m left":            {Remaining: &left},
		"40 % done, about 10m left": {Progress: &percent, Remaining: &left},
	} {
		if got := Reported(j); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
