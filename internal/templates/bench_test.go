package templates

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// BenchmarkTemplates parses, renders and validates each embedded template as a
// submission does. The budget is 5 ms; TestRenderIsFast watches it.
func BenchmarkTemplates(b *testing.B) {
	for _, name := range embeddedNames(b) {
		t := mustFind(b, name)
		v := values.Values{Name: "bench", Namespace: "n", Queue: "q", Priority: "p", Image: "i", EntryScript: "t.py", InstanceType: "ml.p5.48xlarge", NodeCount: values.Int(4),
			Environment: map[string]string{"A": "b"}, Volumes: []values.Volume{{Type: values.PVC, Claim: "c", MountPath: "/c"}}}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				parsed, err := parse.Text(t.Name, t.Source, t.Text)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := render.Objects(parsed, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
