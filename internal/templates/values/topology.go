package values

import (
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// checkTopology validates the level's label.
func (v Values) checkTopology() error {
	if v.PreferredTopology != "" && v.RequiredTopology != "" {
		return errs.Usagef("--preferred-topology and --required-topology exclude each other: required is the stricter wish")
	}
	for flag, level := range map[string]string{"--preferred-topology": v.PreferredTopology, "--required-topology": v.RequiredTopology} {
		if level != "" && len(validation.IsQualifiedName(level)) > 0 {
			return errs.Usagef("%s %s is no node label", flag, manifest.QuoteText(level)).WithTry(flag + " topology.k8s.aws/network-node-layer-3")
		}
	}
	return nil
}
