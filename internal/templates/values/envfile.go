package values

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// ParseEnvFile reads a file of environment variables by the rules of docker and kubectl: KEY=VALUE on each
// line, quotes stay as they are, lines that begin with # are comments, and KEY alone takes the value from this
// machine's environment, if it is set. Errors name the lines and show no values, which may be secret.
func ParseEnvFile(name string, data []byte, lookup func(string) (string, bool)) (map[string]string, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	out := map[string]string{}
	lines := map[string]int{}
	var faults []string
	fault := func(line int, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
	}
	n := 0
	for line := range strings.SplitSeq(string(data), "\n") {
		n++
		line = strings.TrimLeft(strings.TrimSuffix(line, "\r"), " \t")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, given := strings.Cut(line, "=")
		switch {
		case key == "":
			fault(n, "the name before = is missing")
			continue
		case strings.HasPrefix(key, "export "):
			fault(n, "export is for shells; write KEY=VALUE")
			continue
		case !envName().MatchString(key):
			fault(n, "%s is not a valid name of an environment variable", manifest.QuoteText(key))
			continue
		case strings.ContainsRune(value, 0):
			fault(n, "the value of %s has a zero byte", key)
			continue
		case lines[key] > 0:
			fault(n, "%s is already set in line %d", key, lines[key])
			continue
		}
		lines[key] = n
		if !given {
			if value, given = lookup(key); !given {
				continue
			}
		}
		out[key] = value
	}
	if len(faults) == 0 {
		return out, nil
	}
	e := errs.Usagef("cannot read the environment file %s", name)
	for _, f := range faults[:min(len(faults), 10)] {
		e.WithFact("fault", f)
	}
	if more := len(faults) - 10; more > 0 {
		e.WithFact("fault", fmt.Sprintf("%d more", more))
	}
	return nil, e
}
