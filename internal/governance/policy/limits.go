package policy

import (
	"regexp"
	"sync"
	"unicode"
)

// Limits of the SageMaker API on a document (service model of CreateComputeQuota and
// CreateClusterSchedulerConfig).
const (
	maxWeight = 100
	// MaxClasses is the maximum number of priority classes of a policy.
	MaxClasses     = 10
	maxRows        = 15
	maxBorrow      = 10_000 // percent
	usualBorrow    = 500    // percent, the limit in older documents
	maxDescription = 1024
	// maxTeam keeps hyperpod-ns-TEAM-localqueue within the 63 characters of a label.
	maxTeam = 40
)

var (
	teamName       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9](-*[a-z0-9]){0,39}$`) })
	allocationName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$`) })
)

// descriptionRunes are the characters of descriptions.
var descriptionRunes = []*unicode.RangeTable{unicode.L, unicode.M, unicode.Z, unicode.S, unicode.N, unicode.P}
