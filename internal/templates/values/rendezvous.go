package values

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// How the processes of several nodes find each other under torchrun.
const (
	// c10d meets at the first pod; ranks are dealt out as nodes arrive.
	C10d = "c10d"
	// etcd-v2 meets at an etcd server.
	Etcd = "etcd-v2"
	// static gives every node the rank of its pod. Trainium needs it: its devices
	// are wired by rank (AWS Neuron, "torchrun multi-node").
	Static = "static"
)

var rdzvBackends = []string{C10d, Etcd, "etcd", Static}

// Rendezvous says where several nodes meet. The zero value leaves it to the kind
// of device: static for Trainium, else what the manifest's elastic policy says,
// else c10d at the first pod.
type Rendezvous struct {
	Backend  string // c10d, etcd-v2, etcd or static
	Endpoint string // host[:port]; needed for etcd, else the first pod
}

func (r Rendezvous) Check() error {
	if r.Backend != "" && !slices.Contains(rdzvBackends, r.Backend) {
		return setting.RdzvBackend.NotOneOf(r.Backend, rdzvBackends)
	}
	if strings.ContainsAny(r.Endpoint, " \t\n/=") {
		return setting.RdzvEndpoint.Invalid(r.Endpoint, "must be HOST:PORT")
	}
	return nil
}
