package validate

import (
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// What these functions return is why a text cannot be what their names say; "" when it
// can. The rules are the API server's (k8s.io/apimachinery, pkg/util/validation).

// notNameOf is about the name of something that has a DNS label as its name.
func notNameOf(what, name string) string {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return manifest.QuoteText(name) + " is not a valid name of a " + what + ": use at most 63 lower-case letters, digits and -, with a letter or digit at both ends"
	}
	return ""
}
