package templates

// applyRank gives a container the rank of its node, which static rendezvous asks for.
func (s *layer) applyRank(c map[string]any) {
	if s.ranked {
		setFrom(c, rankVariable, map[string]any{"fieldRef": map[string]any{"fieldPath": "metadata.labels['" + rankLabel + "']"}})
	}
}
