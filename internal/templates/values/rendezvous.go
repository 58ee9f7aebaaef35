package values

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// How the processes of several nodes find each other under torchrun.
const (
	// C10d meets at the first pod. Nodes get their ranks in the order in which they arrive.
	C10d = "c10d"
	// Etcd meets at an etcd server.
	Etcd = "etcd-v2"
	// Static gives every node the rank of its pod. Trainium needs it, because its devices are wired by rank
	// (AWS Neuron, "torchrun multi-node").
	Static = "static"
)

var rdzvBackends = []string{C10d, Etcd, "etcd", Static}

// Rendezvous defines where several nodes meet. With the zero value it follows from the kind of device: static
// for Trainium, otherwise the elastic policy of the manifest, or c10d at the first pod.
type Rendezvous struct {
	Backend  string // c10d, etcd-v2, etcd or static
	Endpoint string // host[:port]; needed for etcd, else the first pod
}

// Check validates the backend and the endpoint.
func (r Rendezvous) Check() error {
	if r.Backend != "" && !slices.Contains(rdzvBackends, r.Backend) {
		return setting.RdzvBackend.NotOneOf(r.Backend, rdzvBackends)
	}
	if strings.ContainsAny(r.Endpoint, " \t\n/=") {
		return setting.RdzvEndpoint.Invalid(r.Endpoint, "must be HOST:PORT")
	}
	return nil
}
