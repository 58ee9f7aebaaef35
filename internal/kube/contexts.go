package kube

import (
	"maps"
	"slices"
)

// Contexts returns the names of the kubeconfig's contexts, sorted.
func Contexts(kubeconfig string, env func(string) string) ([]string, error) {
	rules := loadingRules(kubeconfig, env)
	raw, err := load(rules)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(raw.Contexts)), nil
}
