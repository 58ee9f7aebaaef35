package worlds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// practice is a sandbox as the place of a world. Users share all rights, and time moves by command.
type practice struct {
	dir   string
	clock time.Time
}

var users = []string{"ada", "grace", "linus"}

func (p *practice) fresh(_ context.Context, dir string) error {
	p.dir, p.clock = dir, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	return nil
}

func (p *practice) env(user string) map[string]string {
	if user == administrator {
		user = users[0]
	}
	return map[string]string{"HOME": p.dir, "USER": user, "TZ": "UTC", "HYPERPOD_SANDBOX": scenario}
}

func (p *practice) now() time.Time { return p.clock }

func (p *practice) tick() { p.clock = p.clock.Add(time.Minute) }

func (p *practice) settle(context.Context, *world) error { return nil }

func (p *practice) preview(context.Context, step) (string, error) { return "", nil }

func (p *practice) held(context.Context) (map[string]bool, error) { return nil, nil }

func (p *practice) removed(context.Context, string, string) (bool, error) { return false, nil }

func (p *practice) preamble() string { return "export HYPERPOD_SANDBOX=" + scenario }

// change changes a queue.
func (p *practice) change(_ context.Context, s step) error {
	now := p.clock
	path := filepath.Join(p.dir, ".local", "state", "hyperpod", "sandboxes", scenario+sandbox.Extension)
	box, err := sandbox.Open(path, sandbox.Options{Now: func() time.Time { return now }})
	if err != nil {
		return err
	}
	req := httptest.NewRequest("PATCH", kinds.ClusterQueue.Path("", s.queue), strings.NewReader(s.patch()))
	req.Header.Set("Content-Type", "application/json-patch+json")
	answer := httptest.NewRecorder()
	box.ServeHTTP(answer, req)
	if answer.Code >= 500 {
		return fmt.Errorf("HTTP %d: %s", answer.Code, answer.Body)
	}
	return nil
}

// steps makes a sequence. Names repeat, so that commands meet jobs that exist, that ended, and that never were.
func (p *practice) steps(r *rand.Rand, n int) []step {
	job := func() string { return fmt.Sprintf("j%d", r.IntN(8)) }
	var out []step
	for range n {
		team := pick(r, teams)
		s := step{user: pick(r, users), namespace: "hyperpod-ns-" + team}
		switch k := r.IntN(20); {
		case k < 8:
			s.start(job(), append(pytorch(r), "--priority", pick(r, priorities)))
		case k < 11:
			s.about(job(), "cancel-job", "--yes")
		case k < 13:
			s.about(job(), "patch-job "+pick(r, []string{"suspend", "unsuspend"}))
		case k < 15:
			s.about(job(), "patch-job priority", "--priority", pick(r, priorities))
		case k < 18:
			s.namespace, s.args = "", []string{"sandbox", "advance", pick(r, []string{"1m", "20m", "3h"})}
		default:
			s.changeQuota(r, team)
		}
		out = append(out, s)
	}
	return out
}
