package overlay

import (
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
)

// applyRank gives a container the rank of its node, which static rendezvous needs.
func (s *job) applyRank(c map[string]any) {
	if s.Ranked {
		setFrom(c, resolve.RankVariable, map[string]any{"fieldRef": map[string]any{"fieldPath": "metadata.labels['" + resolve.RankLabel + "']"}})
	}
}
