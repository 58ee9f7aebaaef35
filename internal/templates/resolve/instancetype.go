package resolve

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// findType looks the instance type up. The nodes of the cluster override the table, and allow a type that the
// table does not have.
func (s *Plan) findType() error {
	if s.NodeType == "" || manifest.Unfilled(s.NodeType) {
		s.NodeType = ""
		return nil
	}
	typ, ok := instances.Lookup(s.NodeType)
	if !ok && s.Node == nil {
		near := instances.Near(s.NodeType)
		e := errs.Usagef("instance type %s not found%s", manifest.QuoteText(s.NodeType), manifest.DidYouMean(near))
		for _, name := range near[:min(len(near), 1)] {
			e.Suggest(setting.InstanceType.Option(name))
		}
		return e.Suggest(suggest.ListInstanceTypes())
	}
	s.NodeType = instances.Full(s.NodeType)
	s.Type, s.HasType = typ, true
	s.Type.Name = s.NodeType
	if s.Node == nil {
		return nil
	}
	for _, r := range []string{instances.GPU, instances.NeuronDevice, instances.Neuron} {
		if n := s.offers(r); n > 0 {
			s.Type.Resource, s.Type.Accelerators = r, int(n)
			break
		}
	}
	if s.Type.Cores == 0 && s.Type.Accelerators > 0 {
		s.Type.Cores = 1
		if neuron(s.Type.Resource) {
			s.Type.Cores = 2
		}
	}
	if !ok || s.offers(instances.EFA) > 0 {
		s.Type.EFA = int(s.offers(instances.EFA))
	}
	if !ok {
		s.Type.VCPU, s.Type.MemoryGiB = int(s.offers("cpu")), int(s.offers("memory")>>30)
	}
	return nil
}

// offers returns a quantity that the nodes of the cluster report, rounded down.
func (s *Plan) offers(name string) int64 {
	if s.Node == nil {
		return 0
	}
	q, err := resource.ParseQuantity(s.Node.Allocatable[name])
	if err != nil {
		return 0
	}
	return q.MilliValue() / 1000
}
