package kube

import (
	"maps"
	"slices"

	api "k8s.io/client-go/tools/clientcmd/api"
)

// Contexts returns the names of the kubeconfig's contexts, sorted.
func Contexts(kubeconfig string, env func(string) string) ([]string, error) {
	rules := loadingRules(kubeconfig, env)
	raw, err := load(rules)
	if err != nil {
		return nil, err
	}
	return contextNames(raw), nil
}

// contextNames returns the names of contexts, sorted. A context that is null in the file has no name.
func contextNames(raw *api.Config) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(raw.Contexts)), func(name string) bool { return name == "" })
}
