package audittext

import (
	"fmt"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
)

// TestHolders: a sentence names four teams and counts the others, also those that the finding does not list.
func TestHolders(t *testing.T) {
	f := audit.Finding{Code: audit.Starved, Team: "a", Resource: "nvidia.com/gpu", Amount: 8, Jobs: 1, Job: "ns/j", Seconds: 60, HoldersTotal: 300}
	for i := range 10 {
		f.Holders = append(f.Holders, audit.Holder{Team: fmt.Sprint("t", i), Amount: 2})
	}
	found := []audit.Finding{f}
	Fill(found)
	if want := "team a waits for 8 nvidia.com/gpu (1 job, ns/j for 1m); t0 borrows 2, t1 borrows 2, t2 borrows 2, t3 borrows 2 and 296 more"; found[0].Message != want {
		t.Errorf("%s\nwant\n%s", found[0].Message, want)
	}
}
