package kinds

import (
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// label is a DNS label (RFC 1123).
var label = pattern.Lazy(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// NotNamespace returns why a namespace cannot have a name, "" if it can. Namespaces have DNS labels as names.
func NotNamespace(name string) string {
	if len(name) <= 63 && label().MatchString(name) {
		return ""
	}
	if r := []rune(name); len(r) > 70 {
		name = string(r[:69]) + "…"
	}
	return strconv.Quote(name) + " is not a valid namespace: use at most 63 lower-case letters, digits and -, with a letter or digit at both ends"
}
