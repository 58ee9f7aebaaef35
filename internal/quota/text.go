package quota

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Text writes an amount for people: cores with at most three decimals, memory
// and storage in the largest binary unit with at most one, devices as they are.
func Text(resource string, n int64) string { return words.Number(resource, Number(resource, n)) }

// Number returns an amount in base units for JSON: cores, bytes, pieces. Unlimited is
// +Inf.
func Number(resource string, n int64) float64 {
	switch {
	case n == Unlimited:
		return math.Inf(1)
	case resource == cpu:
		return float64(n) / 1000
	}
	return float64(n)
}

// Base is an amount in base units as documents have it. Unlimited is +Inf, and null
// in JSON.
type Base float64

// BaseOf returns an amount as documents have it.
func BaseOf(resource string, n int64) Base { return Base(Number(resource, n)) }

// MarshalJSON writes the number, or null where there is no end.
func (b Base) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(b), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(b))
}

// GPUs returns how many whole GPUs one unit of a resource is: a MIG slice has the number of sevenths in its profile
// (1g.10gb, 3g.40gb). ok is false for other resources.
func GPUs(resource string) (worth float64, ok bool) {
	if resource == "nvidia.com/gpu" {
		return 1, true
	}
	profile, ok := strings.CutPrefix(resource, "nvidia.com/mig-")
	if !ok {
		return 0, false
	}
	slices, _, ok := strings.Cut(profile, "g.")
	n, err := strconv.Atoi(slices)
	if !ok || err != nil || n < 1 || n > 7 {
		return 0, false
	}
	return float64(n) / 7, true
}
