package templates

import (
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Every embedded template says what it is for, every parameter what it does,
// and the file parses for tools that know nothing of templates.
func TestEmbeddedTemplates(t *testing.T) {
	for _, name := range embeddedNames(t) {
		tm := mustFind(t, name)
		if tm.Help == "" {
			t.Errorf("%s has no help", name)
		}
		for _, p := range tm.Params {
			if p.Help == "" || !p.Declared || p.Type == "" {
				t.Errorf("%s: parameter %+v has no help, type or declaration", name, p)
			}
			if !slices.Contains(tm.Mentioned, p.Name) && p.Name != setting.InstanceType.Placeholder() && p.Name != setting.TasksPerNode.Placeholder() {
				t.Errorf("%s: parameter %s is nowhere used", name, p.Name)
			}
		}
	}
}

// The sample runs with nothing but its name.
func TestSampleNeedsNothing(t *testing.T) {
	for _, p := range mustFind(t, "smpv2-llama2").Params {
		if p.Required {
			t.Errorf("%s is required", p.Name)
		}
	}
	r := rendered(t, "smpv2-llama2", values.Values{Name: "smpv2-llama2"})
	if len(r.Objects) != 1 || len(r.Notices) != 0 {
		t.Errorf("%d objects, notices %q", len(r.Objects), r.Notices)
	}
	script := manifest.TextOf(at(t, r.Objects[0], workerContainer+".command[2]"))
	if !strings.Contains(script, "exec torchrun --nnodes=2 --nproc_per_node=8 --rdzv_backend=c10d --rdzv_endpoint=smpv2-llama2-worker-0:29400") {
		t.Errorf("the script starts\n%s", script)
	}
}
