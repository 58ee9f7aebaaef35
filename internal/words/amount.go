package words

import (
	"math"
	"strconv"
	"strings"
)

// Amount returns a quantity with its resource: "8 nvidia.com/gpu", "1.5 cpu", "192Gi
// memory". The value is in base units: cores, bytes, devices.
func Amount[F ~float64](resource string, value F) string {
	return Number(resource, value) + " " + resource
}

// Number returns a quantity in base units without its resource: bytes in binary units
// with at most one decimal, everything else as a plain decimal, +Inf as "unlimited".
func Number[F ~float64](resource string, value F) string {
	v := float64(value)
	switch {
	case math.IsInf(v, 1):
		return "unlimited"
	case InBytes(resource):
		return bytes(v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// InBytes reports whether a resource is counted in bytes.
func InBytes(resource string) bool {
	return resource == "memory" || resource == "storage" || resource == "ephemeral-storage" || strings.HasPrefix(resource, "hugepages-")
}

var binaryUnits = []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

// bytes goes beyond Gi only from 10,000Gi on: people compare 2048Gi with 192Gi.
func bytes(v float64) string {
	unit := 0
	for math.Abs(v) >= 1024 && unit < 3 || math.Abs(v) >= 10000 && unit < len(binaryUnits)-1 {
		v /= 1024
		unit++
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + binaryUnits[unit]
}
