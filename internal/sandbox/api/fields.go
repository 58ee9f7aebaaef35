package api

import (
	"fmt"
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// digits returns a whole number as text, "0" for a missing one.
func digits(v any, names ...string) string {
	n, _ := object.Int(v, names...)
	return strconv.FormatInt(n, 10)
}

// condition returns the status ("True", "False", "Unknown") of a condition, or "".
func condition(o any, kind string) string { return object.Text(object.Condition(o, kind), "status") }

// atoi parses a query parameter that must be a whole number.
func atoi(name, s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, badRequest(fmt.Sprintf("invalid %s %q: must be a whole number", name, s))
	}
	return n, nil
}
