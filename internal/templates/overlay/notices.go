package overlay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// stated returns what a pod states of its size and its nodes, as text: the requests and limits of its training
// container, and the node labels that it requires or prefers.
func stated(pod, c map[string]any) map[string]string {
	out := map[string]string{}
	for _, list := range []string{"limits", "requests"} {
		for name, v := range jobobject.Inner(c, "resources", list) {
			out[name] = manifest.TextOf(v) // of both, the request
		}
	}
	add := func(key, text string) {
		switch have := out[key]; {
		case have == "":
			out[key] = text
		case !slices.Contains(strings.Split(have, " or "), text): // terms are alternatives
			out[key] = have + " or " + text
		}
	}
	for key, v := range jobobject.Inner(pod, "nodeSelector") {
		add(key, manifest.TextOf(v))
	}
	affinity := jobobject.Inner(pod, "affinity", "nodeAffinity")
	for _, term := range jobobject.MapsIn(jobobject.Inner(affinity, requiredTerms)["nodeSelectorTerms"]) {
		eachExpression(term, "", add)
	}
	for _, p := range jobobject.MapsIn(affinity[preferredTerms]) {
		eachExpression(jobobject.Inner(p, "preference"), "preferred ", add)
	}
	return out
}

// eachExpression calls add with the label and the text of each expression in a term.
func eachExpression(term map[string]any, before string, add func(key, text string)) {
	for _, e := range jobobject.MapsIn(term["matchExpressions"]) {
		operator := manifest.TextOf(e["operator"]) + " "
		if operator == "In " {
			operator = ""
		}
		var values []string
		list, _ := e["values"].([]any)
		for _, v := range list {
			values = append(values, manifest.TextOf(v))
		}
		add(manifest.TextOf(e["key"]), strings.TrimSpace(before+operator+strings.Join(values, ",")))
	}
}

// noteChanges notes what the flags changed of the user's own manifest, by flag.
func (s *job) noteChanges(before, after map[string]string) {
	changed := map[string][]string{}
	note := func(name, text string) { changed[s.causeOf(name)] = append(changed[s.causeOf(name)], text) }
	for _, name := range manifest.SortedKeys(after) {
		switch was, had := before[name]; {
		case !had:
			note(name, name+" "+after[name])
		case was != after[name]:
			note(name, fmt.Sprintf("%s %s (was %s)", name, after[name], was))
		}
	}
	for _, name := range manifest.SortedKeys(before) {
		if _, has := after[name]; !has {
			note(name, fmt.Sprintf("removed %s (was %s)", name, before[name]))
		}
	}
	for _, flag := range manifest.SortedKeys(changed) {
		s.Notef("set by %s: %s", flag, strings.Join(changed[flag], ", "))
	}
}

// causeOf returns the flag that sets a resource or a node label.
func (s *job) causeOf(name string) string {
	_, required := s.LabelSelector.Required[name]
	_, preferred := s.LabelSelector.Preferred[name]
	switch {
	case required || preferred:
		return setting.LabelSelector.Flag()
	case name == "cpu":
		return setting.VCPU.Flag()
	case name == "memory":
		return setting.Memory.Flag()
	case name == instances.EFA && s.Values.EFA != nil:
		return setting.EFA.Flag()
	case name == migStateLabel, resolve.IsAccelerator(name) && s.Partition != "":
		return setting.Partition.Flag()
	case resolve.IsAccelerator(name) && s.Values.Accelerators != nil:
		return setting.Accelerators.Flag()
	case name == kinds.NodeHealthLabel, name == kinds.DeepHealthLabel:
		return setting.DeepHealthOnly.Flag()
	}
	return setting.InstanceType.Flag()
}
