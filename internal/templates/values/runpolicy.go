package values

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// RunPolicy says how long a job may run and what is left of it. The zero value
// says nothing. TTL is how many seconds the job stays after its end, Deadline how
// many it may be active, Backoff how often its pods may fail.
type RunPolicy struct {
	CleanPodPolicy         string // All, Running or None
	TTL, Deadline, Backoff *int
}

var cleanPodPolicies = []string{"All", "Running", "None"}

// ParseSeconds reads a duration of a flag as seconds: 3600, 90m, 2h30m or 7d.
func ParseSeconds(flag, text string) (*int, error) {
	bad := errs.Usagef("--%s %s is not a duration", flag, manifest.QuoteText(text)).WithTry("--"+flag+" 90m", "--"+flag+" 7d")
	if n, err := strconv.Atoi(text); err == nil {
		if n < 0 {
			return nil, bad
		}
		return &n, nil
	}
	total := time.Duration(0)
	if days, rest, found := strings.Cut(text, "d"); found {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > 36_500 {
			return nil, bad
		}
		total, text = time.Duration(n)*24*time.Hour, rest
	}
	if text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return nil, bad
		}
		total += d
	}
	if total%time.Second != 0 {
		return nil, bad
	}
	return Int(int(total / time.Second)), nil
}

// check validates the policy by itself.
func (p RunPolicy) check() error {
	if p.CleanPodPolicy != "" && !slices.Contains(cleanPodPolicies, p.CleanPodPolicy) {
		return errs.Usagef("--clean-pod-policy %q is not one of %s%s", p.CleanPodPolicy, strings.Join(cleanPodPolicies, ", "), manifest.Meant(errs.Near(p.CleanPodPolicy, cleanPodPolicies)))
	}
	const most = 1<<31 - 1 // the fields are 32-bit numbers
	for _, n := range []struct {
		flag  string
		have  *int
		least int
	}{{"--ttl-after-finished", p.TTL, 0}, {"--active-deadline", p.Deadline, 1}, {"--backoff-limit", p.Backoff, 0}} {
		if n.have != nil && (*n.have < n.least || *n.have > most) {
			return errs.Usagef("%s is %d, want at least %d and at most %d", n.flag, *n.have, n.least, most)
		}
	}
	return nil
}
