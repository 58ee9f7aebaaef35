package aws

import "github.com/hyperpod-cli/hyperpod/internal/pattern"

var regionForm = pattern.Lazy(`^[a-z]{2,5}(-[a-z]+)+-\d{1,2}$`)

// validRegion reports a text that may be the name of a region, in any partition. It
// becomes part of a host name.
func validRegion(name string) bool { return regionForm().MatchString(name) }
