package values

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// NotJobName returns why a name cannot be that of a job, "" if it can. Pods and services include the name in
// theirs.
func NotJobName(name string) string {
	if len(name) <= 63 && len(validation.IsDNS1123Label(name)) > 0 {
		return manifest.QuoteText(name) + " is not a valid job name: use lower-case letters, digits and -, with a letter or digit at both ends"
	}
	return ""
}

// noBlanks matches text on one line without blanks, such as the name of an image.
var noBlanks = pattern.Lazy(`^[^\s\pC]+$`)

// NotImage returns why a text cannot be the name of an image, "" if it can.
func NotImage(image string) string {
	if !noBlanks().MatchString(image) {
		return manifest.QuoteText(image) + " is not a valid image"
	}
	return ""
}

// NotLabel returns why a name and value cannot be a label, "" if they can.
func NotLabel(name, value string) string {
	switch {
	case len(validation.IsQualifiedName(name)) > 0:
		return manifest.QuoteText(name) + " is not a valid label name"
	case len(validation.IsValidLabelValue(value)) > 0:
		return manifest.QuoteText(value) + " is not a valid value of the label " + name + ": use at most 63 letters, digits, -, _ and ., with a letter or digit at both ends"
	}
	return ""
}

// NotAnnotation returns why a name cannot be that of an annotation, "" if it can.
func NotAnnotation(name string) string {
	if len(validation.IsQualifiedName(strings.ToLower(name))) > 0 {
		return manifest.QuoteText(name) + " is not a valid annotation name"
	}
	return ""
}

// NotServiceAccount returns why a name cannot be that of a service account, "" if it can.
func NotServiceAccount(name string) string {
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return manifest.QuoteText(name) + " is not a valid service account name: use lower-case letters, digits, - and ."
	}
	return ""
}

var envName = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)

// NotVariable returns why a name cannot be that of an environment variable, "" if it can.
func NotVariable(name string) string {
	if !envName().MatchString(name) {
		return manifest.QuoteText(name) + " is not a valid name of an environment variable: use letters, digits and _, and no digit first"
	}
	return ""
}
