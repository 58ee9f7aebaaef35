package permissions

import "github.com/hyperpod-cli/hyperpod/internal/kinds"

// Recorder returns what recording a cluster and reporting about it ask the API server, all in the whole cluster.
func Recorder() []Permission {
	list := "list"
	out := append(jobs(list), beside([]string{list})...)
	out = append(out, in(kueueGroup, "workloads", list), in(kueueGroup, "localqueues", list), in(kueueGroup, "clusterqueues", list), in(kueueGroup, "cohorts", list),
		in(kueueGroup, "resourceflavors", list), in("", kinds.Node.Plural, list), in("", kinds.Event.Plural, list))
	return everywhere(Merge(out))
}
