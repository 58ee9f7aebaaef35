package oracle

import (
	"slices"
	"testing"

	"sigs.k8s.io/kueue/pkg/controller/jobframework"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// TestFrameworks: the integrations that Kueue registers have the names that the kinds have for them.
func TestFrameworks(t *testing.T) {
	names := jobframework.GetIntegrationsList()
	for _, name := range names {
		if !slices.ContainsFunc(kinds.Jobs(), func(k kinds.Job) bool { return k.Framework() == name }) {
			t.Errorf("no kind is governed by %s", name)
		}
	}
	if len(names) < 3 {
		t.Errorf("only %q are registered", names)
	}
}
