package quota

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Text writes an amount for people: cores with at most three decimals, memory
// and storage in the largest binary unit with at most one, devices as they are.
func Text(resource string, n int64) string {
	switch {
	case n == Unlimited:
		return "unlimited"
	case resource == cpu:
		return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64)
	case InBytes(resource):
		return bytesText(n)
	}
	return strconv.FormatInt(n, 10)
}

// InBytes reports the resources that are counted in bytes.
func InBytes(resource string) bool {
	return resource == "memory" || resource == "storage" || resource == "ephemeral-storage" || strings.HasPrefix(resource, "hugepages-")
}

var binaryUnits = []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

func bytesText(n int64) string {
	v, unit := float64(n), 0
	// From 10,000 on, as 2048Gi says more than 2Ti beside 192Gi.
	for math.Abs(v) >= 1024 && unit < 3 || math.Abs(v) >= 10000 && unit < len(binaryUnits)-1 {
		v /= 1024
		unit++
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + binaryUnits[unit]
}

// Number is an amount in base units for JSON: cores, bytes, pieces. Unlimited is
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

// BaseOf is an amount as documents have it.
func BaseOf(resource string, n int64) Base { return Base(Number(resource, n)) }

// MarshalJSON writes the number, or null where there is no end.
func (b Base) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(b), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(b))
}

// GPUs is what one unit of a resource is worth in whole GPUs: a MIG slice has as
// many sevenths as its profile (1g.10gb, 3g.40gb) says. ok is false for what is
// no GPU.
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
