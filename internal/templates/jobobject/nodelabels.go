package jobobject

import "github.com/hyperpod-cli/hyperpod/internal/templates/manifest"

// RequiredLabel returns the values that a pod requires of a node label: in its
// nodeSelector, or in the terms of its required node affinity.
func RequiredLabel(pod map[string]any, key string) []string {
	var out []string
	if v, ok := Inner(pod, "nodeSelector")[key]; ok {
		out = append(out, manifest.TextOf(v))
	}
	for _, term := range MapsIn(Inner(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")["nodeSelectorTerms"]) {
		for _, e := range MapsIn(term["matchExpressions"]) {
			values, _ := e["values"].([]any)
			for _, v := range values {
				if e["key"] == key && e["operator"] == "In" {
					out = append(out, manifest.TextOf(v))
				}
			}
		}
	}
	return out
}
