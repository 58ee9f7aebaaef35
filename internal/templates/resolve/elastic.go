package resolve

import (
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// NodeBounds returns the smallest and largest number of nodes. ok is false if the values do not make the job
// elastic.
func (s *Plan) NodeBounds() (least, most int, ok bool) {
	e := s.Elastic
	if e.Min == nil && e.Max == nil {
		return s.Nodes.N, s.Nodes.N, false
	}
	least, most = s.Nodes.N, s.Nodes.N
	if e.Min != nil {
		least = *e.Min
	}
	if e.Max != nil {
		most = *e.Max
	}
	return least, most, true
}

// nodeRange returns the range of nodes for torchrun: the bounds of the values, or those of the manifest's
// policy if the values only set the number.
func (s *Plan) nodeRange(j *jobobject.View) (least, most int, ok bool) {
	if least, most, ok = s.NodeBounds(); ok || j == nil || j.Kind.Launch().Elastic != kinds.ElasticTorch {
		return least, most, ok
	}
	policy := jobobject.Inner(j.Object, "spec", "elasticPolicy")
	lo, ok1 := manifest.Count(policy["minReplicas"])
	hi, ok2 := manifest.Count(policy["maxReplicas"])
	if !ok1 || !ok2 || lo == hi {
		return s.Nodes.N, s.Nodes.N, false
	}
	return min(lo, s.Nodes.N), max(hi, s.Nodes.N), true
}
