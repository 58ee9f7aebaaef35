package aws

import "github.com/hyperpod-cli/hyperpod/internal/pattern"

var regionForm = pattern.Lazy(`^[a-z]{2,5}(-[a-z]+)+-\d{1,2}$`)

// ValidRegion reports a text that may be the name of a region, in any partition. It
// becomes part of a host name.
func ValidRegion(name string) bool { return regionForm().MatchString(name) }
