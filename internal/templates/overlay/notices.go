package overlay

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// stated is what a container states of its size: its requests, limits and variables, as
// text.
func stated(c map[string]any) map[string]string {
	out := map[string]string{}
	for _, list := range []string{"limits", "requests"} {
		for name, v := range jobobject.Inner(c, "resources", list) {
			out[name] = manifest.TextOf(v) // of both, the request
		}
	}
	for _, e := range jobobject.MapsIn(c["env"]) {
		out["$"+manifest.TextOf(e["name"])] = manifest.TextOf(e["value"])
	}
	return out
}

// noteChanges notes what the flags changed of the user's own manifest, by flag.
func (s *job) noteChanges(before, after map[string]string) {
	changed := map[string][]string{}
	for _, name := range manifest.SortedKeys(after) {
		if was, had := before[name]; had && was == after[name] {
			continue
		} else if variable, isVariable := strings.CutPrefix(name, "$"); isVariable {
			if _, fabric := s.FabricEnvironment()[variable]; fabric {
				changed[s.causeOf(instances.EFA)] = append(changed[s.causeOf(instances.EFA)], variable+"="+after[name])
			}
		} else {
			text := name + " " + after[name]
			if had {
				text += fmt.Sprintf(" (was %s)", was)
			}
			changed[s.causeOf(name)] = append(changed[s.causeOf(name)], text)
		}
	}
	for _, flag := range manifest.SortedKeys(changed) {
		s.Notef("set by %s: %s", flag, strings.Join(changed[flag], ", "))
	}
}

// causeOf is the flag that a resource follows from.
func (s *job) causeOf(resource string) string {
	switch {
	case resource == "cpu" && (s.VCPU != "" || s.VCPULimit != ""), resource == "memory" && (s.Memory != "" || s.MemoryLimit != ""):
		return "--" + map[string]string{"cpu": "vcpu", "memory": "memory"}[resource]
	case resource == instances.EFA && s.Values.EFA != nil:
		return setting.EFA.Flag()
	case resolve.IsAccelerator(resource) && s.Values.Accelerators != nil:
		return setting.Accelerators.Flag()
	}
	return s.Sizing().Flag()
}
