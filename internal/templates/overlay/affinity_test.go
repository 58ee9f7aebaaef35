package overlay

import "testing"

// Terms are alternatives: a term without its only requirement accepts every node, so
// the whole requirement goes.
func TestDropLastRequirement(t *testing.T) {
	pod := map[string]any{"affinity": map[string]any{"nodeAffinity": map[string]any{requiredTerms: map[string]any{"nodeSelectorTerms": []any{
		map[string]any{"matchExpressions": []any{expression("a", []string{"1"})}}, map[string]any{"matchExpressions": []any{expression("b", []string{"1"})}}}}}}}
	nodeRules{pod}.drop("a")
	if len(pod) != 0 {
		t.Errorf("left: %v", pod)
	}
}
