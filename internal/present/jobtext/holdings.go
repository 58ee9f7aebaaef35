package jobtext

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Holdings returns the accelerators that a job holds. borrowing is false where the part that
// it borrows is unknown.
func Holdings(held []jobs.Hold, borrowing bool) string {
	var out []string
	for _, h := range held {
		if !kinds.Accelerator(h.Resource) || h.Amount == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", h.Amount, h.Resource)
		switch {
		case h.Borrowed > 0:
			text += fmt.Sprintf(", %d borrowed (estimate: Kueue counts borrowing per queue)", h.Borrowed)
		case !borrowing:
			text += " (borrowed amount unknown)"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}
