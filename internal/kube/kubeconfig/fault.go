package kubeconfig

import (
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

var (
	yamlLine   = pattern.Lazy(`yaml: (line \d+)`)
	duplicate  = pattern.Lazy(`(?s)\[\]Named(Context|Cluster|AuthInfo|Extension) .*?: duplicate name "(.*?)" in list`)
	wrongType  = pattern.Lazy(`cannot unmarshal \w+ into Go struct field \w+\.(\S+) of type`)
	unknownAPI = pattern.Lazy(`no kind "[^"]*" is registered`)
)

// nouns are what a kubeconfig calls the elements of its lists.
var nouns = map[string]string{"Context": "context", "Cluster": "cluster", "AuthInfo": "user", "Extension": "extension"}

// Fault returns what is wrong with a kubeconfig that client-go cannot decode, in words of its own: the library names Go types,
// and repeats what the file says, also tokens and passwords.
func Fault(err error) string {
	text := err.Error()
	if m := yamlLine().FindStringSubmatch(text); m != nil {
		return "invalid YAML at " + m[1]
	}
	if m := duplicate().FindStringSubmatch(text); m != nil {
		return "it has the " + nouns[m[1]] + " " + strconv.Quote(m[2]) + " a second time"
	}
	if m := wrongType().FindStringSubmatch(text); m != nil {
		return "field " + m[1] + " has the wrong type"
	}
	switch {
	case unknownAPI().MatchString(text):
		return "it must have apiVersion v1 and kind Config"
	case strings.HasPrefix(text, "yaml: "):
		return "invalid YAML"
	}
	return "it must be a YAML map with apiVersion, clusters, contexts and users"
}
