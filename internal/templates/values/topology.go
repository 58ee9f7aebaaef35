package values

import (
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// checkTopology validates the level's label.
func (v Values) checkTopology() error {
	if v.PreferredTopology != "" && v.RequiredTopology != "" {
		return setting.Exclusive(setting.PreferredTopology, setting.RequiredTopology)
	}
	for of, level := range map[setting.Setting]string{setting.PreferredTopology: v.PreferredTopology, setting.RequiredTopology: v.RequiredTopology} {
		if level != "" && len(validation.IsQualifiedName(level)) > 0 {
			return of.Invalid(level, "must be a node label").Suggest(of.Option("topology.k8s.aws/network-node-layer-3"))
		}
	}
	return nil
}
