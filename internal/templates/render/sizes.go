package render

import (
	"encoding/json"

	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
)

// noteSizes notes objects that are nearly too large for a cluster.
func noteSizes(s *resolve.Plan, objects []map[string]any) {
	for _, o := range objects {
		if data, err := json.Marshal(o); err == nil && len(data) > manifest.MaxObject {
			s.Notef("%s %s has %.1f MiB; Kubernetes accepts objects of up to %.1f MiB", manifest.TextOf(o["kind"]), manifest.Clip(manifest.TextOf(jobobject.Inner(o, "metadata")["name"])),
				float64(len(data))/(1<<20), float64(manifest.MaxObject)/(1<<20))
		}
	}
}
