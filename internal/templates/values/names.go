package values

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// NotJobName is about the name of a job, whose pods and services have it in theirs.
func NotJobName(name string) string {
	if len(name) <= 63 && len(validation.IsDNS1123Label(name)) > 0 {
		return manifest.QuoteText(name) + " is not a valid job name: use lower-case letters, digits and -, with a letter or digit at both ends"
	}
	return ""
}

// noBlanks is text on one line without blanks, as the name of an image is.
var noBlanks = regexp.MustCompile(`^[^\s\pC]+$`)

// NotImage is about an image.
func NotImage(image string) string {
	if !noBlanks.MatchString(image) {
		return manifest.QuoteText(image) + " is not a valid image"
	}
	return ""
}

// NotLabel is about a label and its value.
func NotLabel(name, value string) string {
	switch {
	case len(validation.IsQualifiedName(name)) > 0:
		return manifest.QuoteText(name) + " is not a valid label name"
	case len(validation.IsValidLabelValue(value)) > 0:
		return manifest.QuoteText(value) + " is not a valid value of the label " + name + ": use at most 63 letters, digits, -, _ and ., with a letter or digit at both ends"
	}
	return ""
}

// NotAnnotation is about the name of an annotation.
func NotAnnotation(name string) string {
	if len(validation.IsQualifiedName(strings.ToLower(name))) > 0 {
		return manifest.QuoteText(name) + " is not a valid annotation name"
	}
	return ""
}

// NotServiceAccount is about the name of a service account.
func NotServiceAccount(name string) string {
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return manifest.QuoteText(name) + " is not a valid service account name: use lower-case letters, digits, - and ."
	}
	return ""
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// NotVariable is about the name of an environment variable.
func NotVariable(name string) string {
	if !envName.MatchString(name) {
		return manifest.QuoteText(name) + " is not a valid name of an environment variable: use letters, digits and _, and no digit first"
	}
	return ""
}
