// Package limits decides what the LimitRanges, the ResourceQuotas and the Pod Security level
// of a namespace do to pods and other objects: defaults, refusals in the words of an API
// server, and use. It also refuses pods whose service account, priority class or runtime class
// does not exist.
package limits

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kjson "k8s.io/apimachinery/pkg/util/json"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// CompleteRange sets the defaults of a LimitRange: a maximum is the default limit, which
// is the default request.
func CompleteRange(m map[string]any) {
	for _, item := range object.List(m, "spec", "limits") {
		i := object.Map(item)
		if object.Text(i, "type") != string(corev1.LimitTypeContainer) {
			continue
		}
		for _, step := range [][2]string{{"max", "default"}, {"default", "defaultRequest"}, {"min", "defaultRequest"}} {
			for name, v := range object.Map(i, step[0]) {
				if to := object.Child(i, step[1]); to[name] == nil {
					to[name] = v
				}
			}
		}
	}
}

// Default gives a pod the priority of its class, and its containers the values that the LimitRanges of its namespace set,
// and requests equal to their limits.
func Default(st *store.Store, namespace string, pod map[string]any) error {
	if value, ok := priorityOf(st, object.Text(pod, "spec", "priorityClassName")); ok && object.At(pod, "spec", "priority") == nil && object.Map(pod, "spec") != nil {
		object.Map(pod, "spec")["priority"] = value
	}
	Requests(object.Map(pod, "spec"))
	var spec corev1.PodSpec
	if err := decode(object.Map(pod, "spec"), &spec); err != nil {
		return err
	}
	ranges, err := all[corev1.LimitRange](st, kinds.LimitRange, namespace)
	if err != nil {
		return err
	}
	if len(ranges) == 0 {
		return nil
	}
	done := prerequisite.WithDefaults([]prerequisite.Pods{{Template: corev1.PodTemplateSpec{Spec: spec}}}, namespace, ranges)
	for i, c := range object.List(pod, "spec", "containers") {
		r := done[0].Template.Spec.Containers[i].Resources
		for name, list := range map[string]corev1.ResourceList{"limits": r.Limits, "requests": r.Requests} {
			for resource, q := range list {
				object.Set(object.Map(c), q.String(), "resources", name, string(resource))
			}
		}
	}
	return nil
}

// Requests copies limits of containers to missing requests, like the API server.
func Requests(spec map[string]any) {
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range object.List(spec, list) {
			limits, given := object.Map(c, "resources", "limits"), object.At(c, "resources", "requests")
			if _, valid := given.(map[string]any); len(limits) == 0 || given != nil && !valid {
				continue
			}
			requests := object.Child(object.Map(c), "resources", "requests")
			for name, amount := range limits {
				if requests[name] == nil {
					requests[name] = amount
				}
			}
		}
	}
}

// Check returns why a namespace refuses a new object, in the words of an API server; "" if it
// does not.
func Check(st *store.Store, r kinds.Resource, m map[string]any) (string, error) {
	namespace := object.Text(m, "metadata", "namespace")
	if namespace == "" {
		return "", nil
	}
	pods := []corev1.Pod(nil)
	if r.FullName() == kinds.Pod.FullName() {
		var pod corev1.Pod
		if err := decode(m, &pod); err != nil {
			return "", err
		}
		pods = append(pods, pod)
		for _, lacks := range []func(*store.Store, *corev1.Pod) string{noPriority, noRuntime, noAccount} {
			if why := lacks(st, &pod); why != "" {
				return why, nil
			}
		}
		ranges, err := all[corev1.LimitRange](st, kinds.LimitRange, namespace)
		if err != nil {
			return "", err
		}
		if broken := outOfRange(&pod.Spec, ranges); len(broken) == 1 {
			return broken[0], nil
		} else if len(broken) > 1 {
			return "[" + strings.Join(broken, ", ") + "]", nil
		}
		if why := insecure(st, &pod); why != "" {
			return why, nil
		}
	}
	quotas, err := all[corev1.ResourceQuota](st, kinds.ResourceQuota, namespace)
	if err != nil {
		return "", err
	}
	for _, q := range quotas {
		if why := exceeded(st, q, r, pods); why != "" {
			return why, nil
		}
	}
	return "", nil
}

// insecure returns why the Pod Security level of its namespace refuses a pod.
func insecure(st *store.Store, pod *corev1.Pod) string {
	ns := st.Get(kinds.Namespace.FullName(), "", pod.Namespace)
	if ns == nil {
		return ""
	}
	labels := map[string]string{}
	for name, v := range object.Map(ns.Map(), "metadata", "labels") {
		labels[name], _ = v.(string)
	}
	template := corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
	for _, v := range prerequisite.Violations([]prerequisite.Pods{{Template: template}}, labels) {
		return fmt.Sprintf("violates PodSecurity %q: %s", v.Policy, v.Detail)
	}
	return ""
}

// exceeded returns why an object does not fit into a quota.
func exceeded(st *store.Store, q *corev1.ResourceQuota, r kinds.Resource, pods []corev1.Pod) string {
	used := Used(st, q)
	var missing, asked, taken, limited []string
	for _, name := range slices.Sorted(maps.Keys(q.Spec.Hard)) {
		needs, unset := demand(q, name, r, pods)
		if len(unset) > 0 {
			missing = append(missing, fmt.Sprintf("%s for: %s", name, strings.Join(unset, ",")))
		}
		hard, have := q.Spec.Hard[name], used[name]
		sum := have.DeepCopy()
		sum.Add(needs)
		if !needs.IsZero() && sum.Cmp(hard) > 0 {
			asked = append(asked, fmt.Sprintf("%s=%s", name, needs.String()))
			taken = append(taken, fmt.Sprintf("%s=%s", name, have.String()))
			limited = append(limited, fmt.Sprintf("%s=%s", name, hard.String()))
		}
	}
	switch {
	case len(missing) > 0:
		return fmt.Sprintf("failed quota: %s: must specify %s", q.Name, strings.Join(missing, "; "))
	case len(asked) > 0:
		return fmt.Sprintf("exceeded quota: %s, requested: %s, used: %s, limited: %s", q.Name, strings.Join(asked, ","), strings.Join(taken, ","), strings.Join(limited, ","))
	}
	return ""
}

// demand returns what a new object takes of an entry of a quota, and the containers that
// lack a value the entry requires.
func demand(q *corev1.ResourceQuota, name corev1.ResourceName, r kinds.Resource, pods []corev1.Pod) (needs resource.Quantity, unset []string) {
	if counted(name, r) {
		return *resource.NewQuantity(1, resource.DecimalSI), nil
	}
	for i := range pods {
		if !inScope(q, &pods[i]) {
			continue
		}
		amount, lacks, counts := prerequisite.Demand(asPods(&pods[i]), string(name))
		if !counts {
			continue
		}
		needs.Add(amount)
		if lacks {
			unset = append(unset, lacking(&pods[i].Spec, name)...)
		}
	}
	return needs, unset
}

// lacking returns the containers without a value for an entry of a quota.
func lacking(spec *corev1.PodSpec, name corev1.ResourceName) (out []string) {
	for _, c := range spec.Containers {
		one := corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}
		if _, lacks, _ := prerequisite.Demand(asPods(&one), string(name)); lacks {
			out = append(out, c.Name)
		}
	}
	return out
}

func asPods(p *corev1.Pod) []prerequisite.Pods {
	return []prerequisite.Pods{{Count: 1, Template: corev1.PodTemplateSpec{Spec: p.Spec}}}
}

// counted reports whether an entry of a quota counts the objects of a kind.
func counted(name corev1.ResourceName, r kinds.Resource) bool {
	return string(name) == "count/"+r.FullName() || r.Group == "" && r.Plural != kinds.Pod.Plural && string(name) == r.Plural
}

// Used returns what the objects of a namespace use of a quota's entries.
func Used(st *store.Store, q *corev1.ResourceQuota) corev1.ResourceList {
	var pods []corev1.Pod
	for _, o := range st.List(kinds.Pod.FullName(), q.Namespace) {
		phase := object.Text(o.Map(), "status", "phase")
		var p corev1.Pod
		if phase != "Succeeded" && phase != "Failed" && kjson.Unmarshal(o.Raw, &p) == nil {
			pods = append(pods, p)
		}
	}
	out := corev1.ResourceList{}
	for name := range q.Spec.Hard {
		plural, objects := strings.CutPrefix(string(name), "count/")
		if objects || len(st.List(plural, q.Namespace)) > 0 && plural != kinds.Pod.Plural {
			out[name] = *resource.NewQuantity(int64(len(st.List(plural, q.Namespace))), resource.DecimalSI)
			continue
		}
		sum, _ := demand(q, name, kinds.Pod, pods)
		out[name] = sum
	}
	return out
}

// inScope reports whether a quota counts a pod.
func inScope(q *corev1.ResourceQuota, p *corev1.Pod) bool {
	for _, s := range q.Spec.Scopes {
		if !matches(corev1.ScopedResourceSelectorRequirement{ScopeName: s, Operator: corev1.ScopeSelectorOpExists}, p) {
			return false
		}
	}
	if q.Spec.ScopeSelector != nil {
		for _, r := range q.Spec.ScopeSelector.MatchExpressions {
			if !matches(r, p) {
				return false
			}
		}
	}
	return true
}

func matches(r corev1.ScopedResourceSelectorRequirement, p *corev1.Pod) bool {
	ends := p.Spec.ActiveDeadlineSeconds != nil
	switch r.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return ends
	case corev1.ResourceQuotaScopeNotTerminating:
		return !ends
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(p)
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(p)
	case corev1.ResourceQuotaScopePriorityClass:
		class := p.Spec.PriorityClassName
		switch r.Operator {
		case corev1.ScopeSelectorOpIn:
			return slices.Contains(r.Values, class)
		case corev1.ScopeSelectorOpNotIn:
			return !slices.Contains(r.Values, class)
		case corev1.ScopeSelectorOpExists:
			return class != ""
		case corev1.ScopeSelectorOpDoesNotExist:
			return class == ""
		}
	}
	return true
}

func bestEffort(p *corev1.Pod) bool {
	for _, c := range p.Spec.Containers {
		for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				if q := list[name]; !q.IsZero() {
					return false
				}
			}
		}
	}
	return true
}

// outOfRange returns the constraints of LimitRanges that a pod breaks. Source: the
// limitranger plugin of k8s.io/kubernetes.
func outOfRange(spec *corev1.PodSpec, ranges []*corev1.LimitRange) (out []string) {
	for _, lr := range ranges {
		for _, item := range lr.Spec.Limits {
			switch item.Type {
			case corev1.LimitTypeContainer:
				for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
					out = append(out, broken(item, c.Resources.Requests, c.Resources.Limits)...)
				}
			case corev1.LimitTypePod:
				pod := &corev1.Pod{Spec: *spec}
				out = append(out, broken(item, resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}), resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{}))...)
			}
		}
	}
	return out
}

func broken(item corev1.LimitRangeItem, requests, limits corev1.ResourceList) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(item.Min)) {
		enforced, what := item.Min[name], fmt.Sprintf("minimum %s usage per %s is ", name, item.Type)
		request, requested := requests[name]
		limit, limited := limits[name]
		switch {
		case !requested:
			out = append(out, what+enforced.String()+".  No request is specified")
		case request.Cmp(enforced) < 0:
			out = append(out, what+enforced.String()+", but request is "+request.String())
		case limited && limit.Cmp(enforced) < 0:
			out = append(out, what+enforced.String()+", but limit is "+limit.String())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(item.Max)) {
		enforced, what := item.Max[name], fmt.Sprintf("maximum %s usage per %s is ", name, item.Type)
		request, requested := requests[name]
		limit, limited := limits[name]
		switch {
		case !limited:
			out = append(out, what+enforced.String()+".  No limit is specified")
		case limit.Cmp(enforced) > 0:
			out = append(out, what+enforced.String()+", but limit is "+limit.String())
		case requested && request.Cmp(enforced) > 0:
			out = append(out, what+enforced.String()+", but request is "+request.String())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(item.MaxLimitRequestRatio)) {
		enforced, what := item.MaxLimitRequestRatio[name], fmt.Sprintf("%s max limit to request ratio per %s is ", name, item.Type)
		request, limit := requests[name], limits[name]
		switch {
		case request.IsZero():
			out = append(out, what+enforced.String()+", but no request is specified or request is 0")
		case limit.IsZero():
			out = append(out, what+enforced.String()+", but no limit is specified or limit is 0")
		default:
			if ratio := limit.AsApproximateFloat64() / request.AsApproximateFloat64(); ratio > enforced.AsApproximateFloat64() {
				out = append(out, what+enforced.String()+fmt.Sprintf(", but provided ratio is %f", ratio))
			}
		}
	}
	return out
}

func all[T any](st *store.Store, r kinds.Resource, namespace string) ([]*T, error) {
	var out []*T
	for _, o := range st.List(r.FullName(), namespace) {
		v := new(T)
		if err := kjson.Unmarshal(o.Raw, v); err != nil {
			return nil, fmt.Errorf("%s %s/%s: %w", r.Kind, o.Namespace, o.Name, err)
		}
		out = append(out, v)
	}
	return out, nil
}

func decode(m map[string]any, v any) error {
	raw, err := store.Encode(m)
	if err != nil {
		return err
	}
	return kjson.Unmarshal(raw, v)
}

// noRuntime returns why the API server refuses a pod whose runtime class does not exist, in the words of its RuntimeClass plugin; ""
// if it exists.
func noRuntime(st *store.Store, pod *corev1.Pod) string {
	name := pod.Spec.RuntimeClassName
	if name == nil || *name == "" || st.Get(kinds.RuntimeClass.FullName(), "", *name) != nil {
		return ""
	}
	return fmt.Sprintf("pod rejected: RuntimeClass %q not found", *name)
}

// noPriority returns why the API server refuses a pod that names a priority class which does not exist, or whose priority is not the
// one of its class, in the words of its Priority plugin; "" if it does not.
func noPriority(st *store.Store, pod *corev1.Pod) string {
	want, ok := priorityOf(st, pod.Spec.PriorityClassName)
	switch p := pod.Spec.Priority; {
	case !ok:
		return fmt.Sprintf("no PriorityClass with name %s was found", pod.Spec.PriorityClassName)
	case p != nil && int64(*p) != want:
		return fmt.Sprintf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", *p, want)
	}
	return ""
}

// priorityOf returns the priority of pods with a class, or with none, and whether the class exists. A sandbox without any class is the
// one of a snapshot whose classes could not be read.
func priorityOf(st *store.Store, class string) (value int64, ok bool) {
	classes := st.List(kinds.PriorityClass.FullName(), "")
	for _, o := range classes {
		standard, _ := object.At(o.Map(), "globalDefault").(bool)
		if class != "" && o.Name == class || class == "" && standard {
			value, _ = object.Int(o.Map(), "value")
			return value, true
		}
	}
	return 0, class == "" || len(classes) == 0
}

// noAccount returns why the API server refuses a pod whose service account does not exist, in the
// words of its ServiceAccount plugin; "" if it exists. Every namespace has "default".
func noAccount(st *store.Store, pod *corev1.Pod) string {
	name := pod.Spec.ServiceAccountName
	if name == "" || name == "default" || st.Get(kinds.ServiceAccount.FullName(), pod.Namespace, name) != nil {
		return ""
	}
	return fmt.Sprintf("error looking up service account %s/%s: serviceaccount %q not found", pod.Namespace, name, name)
}
