package crd

import (
	"reflect"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/structural"
)

// rules has a function for each rule of Kueue's definitions, by its text.
var rules = structural.Judges{
	"self == oldSelf": func(v, old any) (bool, string) { return reflect.DeepEqual(v, old), "" },
	"self.flavors.all(x, size(x.resources) == size(self.coveredResources))": func(v, _ any) (bool, string) {
		n := len(object.List(v, "coveredResources"))
		return every(object.List(v, "flavors"), func(f any) bool { return len(object.List(f, "resources")) == n }), ""
	},
	"size(self.filter(i, size(self.filter(j, j == i)) > 1)) == 0": func(v, _ any) (bool, string) {
		list, _ := v.([]any)
		for i, a := range list {
			if slices.ContainsFunc(list[i+1:], func(b any) bool { return reflect.DeepEqual(a, b) }) {
				return false, ""
			}
		}
		return true, ""
	},
	"size(self.filter(i, i.nodeLabel == 'kubernetes.io/hostname')) == 0 || self[size(self) - 1].nodeLabel == 'kubernetes.io/hostname'": func(v, _ any) (bool, string) {
		list, _ := v.([]any)
		at := slices.IndexFunc(list, func(l any) bool { return object.Text(l, "nodeLabel") == "kubernetes.io/hostname" })
		return at < 0 || object.Text(list[len(list)-1], "nodeLabel") == "kubernetes.io/hostname", ""
	},
	"!has(self.cohortName) && has(self.resourceGroups) ? self.resourceGroups.all(rg, rg.flavors.all(f, f.resources.all(r, !has(r.borrowingLimit)))) : true": func(v, _ any) (bool, string) {
		return object.At(v, "cohortName") != nil || every(object.List(v, "resourceGroups"), func(g any) bool {
			return every(object.List(g, "flavors"), func(f any) bool {
				return every(object.List(f, "resources"), func(r any) bool { return object.At(r, "borrowingLimit") == nil })
			})
		}), ""
	},
	"!has(self.preference) || (self.whenCanBorrow == 'TryNextFlavor' && self.whenCanPreempt == 'TryNextFlavor')": func(v, _ any) (bool, string) {
		return object.At(v, "preference") == nil || object.Text(v, "whenCanBorrow") == "TryNextFlavor" && object.Text(v, "whenCanPreempt") == "TryNextFlavor", ""
	},
	"!(self.reclaimWithinCohort == 'Never' && has(self.borrowWithinCohort) &&  self.borrowWithinCohort.policy != 'Never')": func(v, _ any) (bool, string) {
		return object.Text(v, "reclaimWithinCohort") != "Never" || object.At(v, "borrowWithinCohort") == nil || object.Text(v, "borrowWithinCohort", "policy") == "Never", ""
	},
	"!has(self.topologyName) || self.nodeLabels.size() >= 1": func(v, _ any) (bool, string) {
		if object.At(v, "topologyName") == nil {
			return true, ""
		}
		if object.At(v, "nodeLabels") == nil {
			return false, "nodeLabels"
		}
		return len(object.Map(v, "nodeLabels")) > 0, ""
	},
	"!has(oldSelf.topologyName) || (has(self.nodeLabels) == has(oldSelf.nodeLabels) && (!has(self.nodeLabels) || self.nodeLabels == oldSelf.nodeLabels))":      fixedWithTopology("nodeLabels"),
	"!has(oldSelf.topologyName) || (has(self.tolerations) == has(oldSelf.tolerations) && (!has(self.tolerations) || self.tolerations == oldSelf.tolerations))": fixedWithTopology("tolerations"),
	"!has(oldSelf.topologyName) || (has(self.topologyName) && self.topologyName == oldSelf.topologyName)":                                                      fixedWithTopology("topologyName"),
	"self.all(x, x.effect in ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])": each(func(x any) (bool, string) {
		if object.At(x, "effect") == nil {
			return false, "effect"
		}
		return isEffect(x), ""
	}),
	"self.all(x, !has(x.key) ? x.operator == 'Exists' : true)": each(func(x any) (bool, string) {
		switch {
		case object.At(x, "key") != nil:
			return true, ""
		case object.At(x, "operator") == nil:
			return false, "operator"
		}
		return object.Text(x, "operator") == "Exists", ""
	}),
	"self.all(x, has(x.tolerationSeconds) ? x.effect == 'NoExecute' : true)": each(func(x any) (bool, string) {
		switch {
		case object.At(x, "tolerationSeconds") == nil:
			return true, ""
		case object.At(x, "effect") == nil:
			return false, "effect"
		}
		return object.Text(x, "effect") == "NoExecute", ""
	}),
	"self.all(x, !has(x.operator) || x.operator in ['Equal', 'Exists'])": each(func(x any) (bool, string) {
		return object.At(x, "operator") == nil || slices.Contains([]string{"Equal", "Exists"}, object.Text(x, "operator")), ""
	}),
	"self.all(x, has(x.operator) && x.operator == 'Exists' ? !has(x.value) : true)": each(func(x any) (bool, string) {
		return object.Text(x, "operator") != "Exists" || object.At(x, "value") == nil, ""
	}),
	"self.all(x, !has(x.effect) || x.effect in ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])": each(func(x any) (bool, string) {
		return object.At(x, "effect") == nil || isEffect(x), ""
	}),
}

// fixedWithTopology judges a field of a flavor that cannot change while the flavor has a
// topology.
func fixedWithTopology(name string) structural.Judge {
	return func(v, old any) (bool, string) {
		return object.At(old, "topologyName") == nil || reflect.DeepEqual(object.At(v, name), object.At(old, name)), ""
	}
}

// each judges the elements of a list. Like all() in CEL, a broken element counts before a
// missing field of another one.
func each(f func(x any) (bool, string)) structural.Judge {
	return func(v, _ any) (bool, string) {
		list, _ := v.([]any)
		lacks := ""
		for _, x := range list {
			kept, missing := f(x)
			if missing != "" {
				lacks = missing
			} else if !kept {
				return false, ""
			}
		}
		return lacks == "", lacks
	}
}

func every(list []any, f func(any) bool) bool {
	return !slices.ContainsFunc(list, func(v any) bool { return !f(v) })
}

func isEffect(x any) bool {
	return slices.Contains([]string{"NoSchedule", "PreferNoSchedule", "NoExecute"}, object.Text(x, "effect"))
}
