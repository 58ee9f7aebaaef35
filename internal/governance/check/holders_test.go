package check_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestManyHolders: a verdict lists the holders whose end frees most for the job, and
// sums up the others; all of them on request.
func TestManyHolders(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing))
	s.Add(fixture.Team("t", "all", 8, `"borrowingLimit":"4"`, "")...)
	s.Add(fixture.Team("u", "all", 600, `"lendingLimit":"0"`, "")...) // its jobs free nothing for t
	s.Add(fixture.Team("v", "all", 0, "", "")...)                     // its jobs use what t lends
	for i := range 500 {
		s.Add(fixture.Work("u", fmt.Sprint("far-", i), 1, 0, time.Hour, true))
	}
	s.Add(fixture.Work("t", "own", 5, 0, time.Hour, true))
	for i := range 3 {
		s.Add(fixture.Work("v", fmt.Sprint("near-", i), 1, 0, time.Hour, true))
	}
	ask1 := func(all bool) *check.Verdict {
		return ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 4, "")), Namespace: "t", Remedies: true, AllHolders: all})
	}
	v := ask1(false)
	if len(v.Holders) != remedy.Nearest || v.HoldersTotal != 504 {
		t.Fatalf("%d holders of %d", len(v.Holders), v.HoldersTotal)
	}
	var nearest []string
	for _, h := range v.Holders[:4] {
		nearest = append(nearest, fmt.Sprint(h.Name, " ", float64(h.Frees)))
	}
	if got := strings.Join(nearest, ", "); got != "own 4, near-0 1, near-1 1, near-2 1" {
		t.Errorf("nearest: %s", got)
	}
	if r := v.HoldersRest; len(r) != 1 || r[0] != (check.Amount{Flavor: "a100", Resource: "nvidia.com/gpu", Amount: 494}) {
		t.Errorf("rest %+v", r)
	}
	document, err := json.MarshalIndent(v, "", "  ")
	if lines := strings.Count(string(document), "\n"); err != nil || lines > 1000 {
		t.Errorf("%d lines, %v", lines, err)
	}
	if v := ask1(true); len(v.Holders) != 504 || v.HoldersTotal != 504 || v.HoldersRest != nil {
		t.Errorf("all: %d of %d, rest %v", len(v.Holders), v.HoldersTotal, v.HoldersRest)
	}
}
