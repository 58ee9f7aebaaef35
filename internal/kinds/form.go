package kinds

import (
	"fmt"
	"slices"
	"strings"
)

// Form describes a kind whose objects describe their pods in fields of their own, with no
// pod template. Its roles are those of an outline: an object with a pod template, made of
// these fields, at the place of each part.
type Form struct {
	parts []formPart
	// elsewhere reports an object that does not say what its pods need.
	elsewhere func(object map[string]any) bool
	// images: the operator has an image for a container that names none.
	images bool
}

// formPart is one role of such a kind.
type formPart struct {
	Role
	// container is the name of its main container.
	container string
	// when and unless lead to fields: the object has the part only with one of the first, without the other.
	when   [][]string
	unless []string
	// pods leads to the number of pods in the object; none reports an object that has none.
	pods []string
	none func(object map[string]any) bool
	// fields are those that an object and a pod template have in common; also are others that
	// complete and none read.
	fields []formField
	also   [][]string
	// complete adds to a template what no field has alone.
	complete func(object, template, container map[string]any)
	// keep writes such changes into the object.
	keep func(object, before, after map[string]any)
}

// formField is a field of the pods: where the pod template has it ("container" is the main
// container), where the object has it, and where it has it for all roles.
type formField struct{ pod, at, or []string }

func field(pod, at string) formField { return formField{pod: path(pod), at: path(at)} }

// PodsElsewhere reports an object of a kind with a form that does not say what its pods need.
func (j Job) PodsElsewhere(object map[string]any) bool {
	return j.Form != nil && (len(j.Form.parts) == 0 || j.Form.elsewhere != nil && j.Form.elsewhere(object))
}

// Inherits reports a kind whose pods have what its objects do not say, such as an image, from a runtime or the operator.
func (j Job) Inherits() bool { return j.Runtime != nil || j.Form != nil && j.Form.images }

// OthersPods reports an object that runs on the pods of another one.
func (j Job) OthersPods(object map[string]any) bool { return j.Shares != nil && j.Shares(object) }

// Fields calls f for each field of the objects that describes their pods: where the object
// has it, and where a pod template has it, nil for a single value that a template has in another form.
func (f Form) Fields(yield func(at, pod []string)) {
	for _, p := range f.parts {
		for _, x := range p.fields {
			pod := x.pod
			if pod[0] == "container" {
				pod = slices.Concat(path("spec.containers"), pod[1:])
			}
			yield(x.at, pod)
			if len(x.or) > 0 {
				yield(x.or, pod)
			}
		}
		for _, at := range append(slices.Clone(p.also), p.pods) {
			if len(at) > 0 {
				yield(at, nil)
			}
		}
	}
}

// Takes reports whether the pods of an object can request a resource: a kind with a form may
// have no field for it.
func (j Job) Takes(object map[string]any, resource string) bool {
	return j.Form == nil || j.Form.takes(copyOf(object).(map[string]any), resource)
}

func (f Form) takes(object map[string]any, resource string) bool {
	outline := f.outline(object)
	for _, p := range f.in(object) {
		t, _ := lookup(outline, slices.Concat(p.Path, path("template"))).(map[string]any)
		if c := mainOf(t, p.container); c != nil {
			Set(c, "1", "resources", "limits", resource)
		}
	}
	return f.fold(object, outline) == nil
}

func (f Form) job() *Job {
	j := &Job{}
	for _, p := range f.parts {
		r := p.Role
		r.Replicas, r.Template = path("replicas"), path("template")
		j.Roles = append(j.Roles, r)
	}
	return j
}

// in returns the parts that an object has.
func (f Form) in(object map[string]any) []formPart {
	var out []formPart
	if f.elsewhere != nil && f.elsewhere(object) {
		return nil
	}
	for _, p := range f.parts {
		_, isMap := lookup(object, p.Path).(map[string]any)
		given := len(p.when) == 0 || slices.ContainsFunc(p.when, func(at []string) bool { return lookup(object, at) != nil })
		if isMap && given && (len(p.unless) == 0 || lookup(object, p.unless) == nil) {
			out = append(out, p)
		}
	}
	return out
}

func (f Form) outline(object map[string]any) map[string]any {
	out := map[string]any{}
	for _, p := range f.in(object) {
		at := Child(out, p.Path...)
		at["template"], at["replicas"] = p.template(object), p.count(object)
	}
	return out
}

func (p formPart) count(object map[string]any) int64 {
	n, ok := number(object, p.pods)
	switch {
	case p.none != nil && p.none(object):
		return 0
	case !ok:
		return 1
	}
	return n
}

func (p formPart) template(object map[string]any) map[string]any {
	c := map[string]any{"name": p.container}
	t := map[string]any{"spec": map[string]any{"containers": []any{c}}}
	for _, f := range p.fields {
		v := lookup(object, f.at)
		if empty(v) && len(f.or) > 0 {
			v = lookup(object, f.or)
		}
		if !empty(v) {
			at, keys := f.in(t, c)
			Set(at, copyOf(v), keys...)
		}
	}
	if p.complete != nil {
		p.complete(object, t, c)
	}
	return t
}

// in returns the map of a template or its container in which the field is, and its keys there.
func (f formField) in(template, container map[string]any) (map[string]any, []string) {
	if f.pod[0] == "container" {
		return container, f.pod[1:]
	}
	return template, f.pod
}

// fold writes the changes of an outline into its object. It returns an error for a change
// that the kind has no field for.
func (f Form) fold(object, outline map[string]any) error {
	for _, p := range f.in(object) {
		after, _ := lookup(outline, slices.Concat(p.Path, path("template"))).(map[string]any)
		if after == nil {
			continue
		}
		before := p.template(object)
		for _, x := range p.fields {
			was, is := x.of(before, p.container), x.of(after, p.container)
			if alike(was, is) {
				continue
			}
			if last := len(x.at) - 1; empty(is) {
				if m, ok := lookup(object, x.at[:last]).(map[string]any); ok {
					delete(m, x.at[last])
				}
			} else {
				Set(object, is, x.at...)
			}
		}
		if p.keep != nil {
			p.keep(object, before, after)
		}
		if n, ok := number(outline, slices.Concat(p.Path, path("replicas"))); ok && n != p.count(object) && len(p.pods) > 0 {
			Set(object, n, p.pods...)
		}
		if rest := differences(p.template(object), after, ""); len(rest) > 0 {
			return fmt.Errorf("it has no field for %s of its pods", strings.Join(rest, ", "))
		}
	}
	return nil
}

func (f formField) of(template map[string]any, container string) any {
	at, keys := f.in(template, mainOf(template, container))
	return lookup(at, keys)
}

// mainOf returns the container of a name, or the first one.
func mainOf(template map[string]any, name string) map[string]any {
	list, _ := lookup(template, path("spec.containers")).([]any)
	var first map[string]any
	for _, c := range list {
		c, _ := c.(map[string]any)
		if first == nil || c["name"] == name {
			first = c
		}
		if c["name"] == name {
			break
		}
	}
	return first
}

// differences returns the fields in which two values differ.
func differences(a, b any, at string) []string {
	if alike(a, b) {
		return nil
	}
	x, ok := a.(map[string]any)
	y, both := b.(map[string]any)
	if ok && both {
		var out []string
		seen := map[string]bool{}
		for _, m := range []map[string]any{x, y} {
			for k := range m {
				if !seen[k] {
					seen[k] = true
					out = append(out, differences(x[k], y[k], strings.TrimPrefix(at+"."+k, "."))...)
				}
			}
		}
		slices.Sort(out)
		return out
	}
	p, ok := a.([]any)
	q, both := b.([]any)
	if ok && both && len(p) == len(q) {
		var out []string
		for i := range p {
			out = append(out, differences(p[i], q[i], at)...)
		}
		return slices.Compact(out)
	}
	return []string{at}
}

// alike reports whether two values are equal; nothing equals an empty map, list or text.
func alike(a, b any) bool {
	if empty(a) && empty(b) {
		return true
	}
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return false
		}
		for k := range y {
			if _, has := x[k]; !has && !empty(y[k]) {
				return false
			}
		}
		for k := range x {
			if !alike(x[k], y[k]) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !alike(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	if n, ok := Int(a); ok {
		m, both := Int(b)
		return both && n == m
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}
