package overlay

import (
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// noteOldName notes text that still contains the old name of the manifest.
func (s *job) noteOldName(j *jobobject.View, old string) {
	if old == "" {
		return
	}
	for _, suffix := range []string{"-worker-", "-master-", "-launcher"} {
		manifest.Visit(manifest.FromPlain(j.Object), manifest.Location{}, func(n *manifest.Node, at manifest.Location) {
			if at.Script && containsName(n.Str(), old+suffix) {
				s.Notef("%s still contains %s…, and the job is named %s", at.Path, old+suffix, s.Name)
			}
		})
	}
}

func containsName(text, name string) bool {
	for i := 0; i+len(name) <= len(text); i++ {
		if text[i:i+len(name)] == name && (i == 0 || !isNameByte(text[i-1])) {
			return true
		}
	}
	return false
}

func isNameByte(b byte) bool {
	return b == '-' || b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
