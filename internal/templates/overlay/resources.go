package overlay

import (
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// applyResources writes the requests of the training pods. Values of the user replace those of the manifest;
// values of the instance type only fill in what a template leaves out.
func (s *job) applyResources(c map[string]any) {
	r := resourceLists{c}
	if s.Devices.Apply && !(s.Own() && r.states(s.Resource, s.Devices.N)) {
		r.dropExcept(resolve.IsAccelerator, s.Resource)
		r.setBoth(s.Resource, s.Devices.N)
	} else if s.Fills() {
		r.fillBoth(s.Resource, s.Devices.N)
	}
	if s.EFADevices.Apply && !(s.Own() && r.states(instances.EFA, s.EFADevices.N)) {
		r.setBoth(instances.EFA, s.EFADevices.N)
	} else if s.Fills() {
		r.fillBoth(instances.EFA, s.EFADevices.N)
	}
	if s.VCPU != "" {
		r.set("requests", "cpu", s.VCPU)
	}
	if s.Memory != "" {
		r.set("requests", "memory", s.Memory)
	}
	if s.VCPULimit != "" {
		r.set("limits", "cpu", s.VCPULimit)
	}
	if s.MemoryLimit != "" {
		r.set("limits", "memory", s.MemoryLimit)
	}
	if num, den := s.Share(); s.Fills() && den > 0 {
		cpu, memory := s.Allocatable()
		r.fill("cpu", resolve.CPUText(cpu*num/den))
		r.fill("memory", resolve.MemoryText(memory/den*num))
	}
	if s.Fills() || s.Own() && s.Sized && (s.Template.Uses(setting.EFA) || s.Template.Uses(setting.Accelerators)) {
		r.dropZero()
	}
	r.tidy()
}

// resourceLists are a container's requests and limits.
type resourceLists struct{ container map[string]any }

func (r resourceLists) list(name string) map[string]any {
	return jobobject.Child(jobobject.Child(r.container, "resources"), name)
}

func (r resourceLists) set(list, name string, v any) { r.list(list)[name] = v }

// setBoth sets request and limit; devices cannot be overcommitted.
func (r resourceLists) setBoth(name string, n int) {
	for _, list := range []string{"requests", "limits"} {
		if n == 0 {
			delete(r.list(list), name)
		} else {
			r.set(list, name, int64(n))
		}
	}
}

func (r resourceLists) has(name string) bool {
	for _, list := range []string{"requests", "limits"} {
		if _, ok := r.list(list)[name]; ok {
			return true
		}
	}
	return false
}

// states reports whether a request or a limit is n already, as a placeholder makes it.
func (r resourceLists) states(name string, n int) bool {
	for _, list := range []string{"requests", "limits"} {
		if v, ok := manifest.Count(r.list(list)[name]); ok && v == n {
			return true
		}
	}
	return false
}

func (r resourceLists) fillBoth(name string, n int) {
	if !r.has(name) {
		r.setBoth(name, n)
	}
}

func (r resourceLists) fill(name, quantity string) {
	if !r.has(name) && quantity != "0m" && quantity != "0Mi" {
		r.set("requests", name, quantity)
	}
}

func (r resourceLists) dropExcept(match func(string) bool, keep string) {
	for _, list := range []string{"requests", "limits"} {
		for name := range r.list(list) {
			if match(name) && name != keep {
				delete(r.list(list), name)
			}
		}
	}
}

// dropZero removes devices with a request of 0: an instance type without EFA
// makes 0 of a placeholder, which a queue that does not know EFA may refuse.
func (r resourceLists) dropZero() {
	for _, list := range []string{"requests", "limits"} {
		for name, v := range r.list(list) {
			if n, ok := manifest.Count(v); ok && n == 0 && (resolve.IsAccelerator(name) || name == instances.EFA) {
				delete(r.list(list), name)
			}
		}
	}
}

// tidy removes lists that are empty.
func (r resourceLists) tidy() {
	resources := jobobject.Child(r.container, "resources")
	for _, list := range []string{"requests", "limits"} {
		if len(jobobject.Child(resources, list)) == 0 {
			delete(resources, list)
		}
	}
	if len(resources) == 0 {
		delete(r.container, "resources")
	}
}
