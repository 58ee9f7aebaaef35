package values

import (
	"slices"
	"strconv"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// RunPolicy limits how long a job runs and what is kept of it. Zero values set nothing. TTL is how many seconds
// the job stays after its end, Deadline how many seconds it may be active, Backoff how many times its pods may
// fail.
type RunPolicy struct {
	CleanPodPolicy         string // All, Running or None
	TTL, Deadline, Backoff *int
}

var cleanPodPolicies = []string{"All", "Running", "None"}

// ParseSeconds reads the duration of a flag in seconds: 3600, 90m, 2h30m or 7d.
func ParseSeconds(of setting.Setting, text string) (*int, error) {
	bad := of.Invalid(text, "must be a duration").Suggest(of.Option("90m"), of.Option("7d"))
	if n, err := strconv.Atoi(text); err == nil {
		if n < 0 {
			return nil, bad
		}
		return &n, nil
	}
	total, ok := words.ParseDuration(text)
	if !ok {
		return nil, bad
	}
	if total%time.Second != 0 {
		return nil, bad
	}
	return Int(int(total / time.Second)), nil
}

// check validates the policy without looking at a template.
func (p RunPolicy) check() error {
	if p.CleanPodPolicy != "" && !slices.Contains(cleanPodPolicies, p.CleanPodPolicy) {
		return setting.CleanPodPolicy.NotOneOf(p.CleanPodPolicy, cleanPodPolicies)
	}
	const most = 1<<31 - 1 // the fields are 32-bit numbers
	for _, n := range []struct {
		of    setting.Setting
		have  *int
		least int
	}{{setting.TTL, p.TTL, 0}, {setting.Deadline, p.Deadline, 1}, {setting.Backoff, p.Backoff, 0}} {
		if n.have != nil && (*n.have < n.least || *n.have > most) {
			return n.of.OutOfRange(*n.have, n.least, most)
		}
	}
	return nil
}
