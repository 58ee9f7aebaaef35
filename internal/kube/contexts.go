package kube

import (
	"maps"
	"slices"
)

// Contexts returns the names of the kubeconfig's contexts, sorted.
func Contexts(kubeconfig string, env func(string) string) ([]string, error) {
	raw, err := loadingRules(kubeconfig, env).Load()
	if err != nil {
		return nil, explainLoad(Location{Kubeconfig: kubeconfig}, err)
	}
	return slices.Sorted(maps.Keys(raw.Contexts)), nil
}
