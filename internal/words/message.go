package words

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// Shortage is what a message of Kueue says about a resource in a flavor: Missing for
// "insufficient unused quota for R in flavor F, N more needed", Most for
// "insufficient quota for R in flavor F, ... > maximum capacity (N)" (flavorassigner
// in pkg/scheduler). Amounts are Kubernetes quantities; the other one is "".
type Shortage struct{ Resource, Flavor, Missing, Most string }

var shortage = pattern.Lazy(`insufficient (?:unused quota for (\S+) in flavor (\S+), (\S+) more needed|quota for (\S+) in flavor (\S+), [^,]*?> maximum capacity \(([^)]+)\))`)

// Shortages returns the shortages that a message of Kueue names, in its order.
func Shortages(message string) []Shortage {
	var out []Shortage
	for _, m := range shortage().FindAllStringSubmatch(message, -1) {
		out = append(out, Shortage{Resource: m[1] + m[4], Flavor: m[2] + m[5], Missing: m[3], Most: m[6]})
	}
	return out
}

// RulesOut reports whether a message of Kueue says that the pods of a job cannot use
// a flavor, because of node affinity or taints (flavorassigner in pkg/scheduler).
func RulesOut(message, flavor string) bool {
	if strings.Contains(message, "flavor "+flavor+" doesn't match node affinity") {
		return true
	}
	for _, part := range strings.Split(message, ", ") {
		if strings.Contains(part, "untolerated taint ") && strings.HasSuffix(part, " in flavor "+flavor) {
			return true
		}
	}
	return false
}

var uncovered = pattern.Lazy(`resource (\S+) unavailable in ClusterQueue`)

// Uncovered returns the resource that a message of Kueue says the ClusterQueue has no quota
// for, "" when it names none (flavorassigner in pkg/scheduler).
func Uncovered(message string) string {
	if m := uncovered().FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}

var assignment = pattern.Lazy(`^(?:.*: )?couldn't assign flavors to pod set [^ ]+: `)

// WithoutPodSet returns a message of Kueue without its beginning "couldn't assign flavors
// to pod set NAME: ".
func WithoutPodSet(message string) string {
	return strings.TrimPrefix(message, assignment().FindString(message))
}

// Short returns a resource without its domain: gpu, neurondevice, mig-1g.10gb.
func Short(resource string) string { return resource[strings.LastIndex(resource, "/")+1:] }
