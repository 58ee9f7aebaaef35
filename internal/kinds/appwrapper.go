package kinds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// AppWrapper is CodeFlare's kind for objects that Kueue admits together (v1beta2). Its pods
// are those of the objects in it.
var AppWrapper = Job{
	Resource:    Resource{Group: "workload.codeflare.dev", Version: "v1beta2", Plural: "appwrappers", Kind: "AppWrapper", Namespaced: true},
	PodLabel:    "workload.codeflare.dev/appwrapper",
	SuspendPath: path("spec.suspend"),
	RolesOf:     wrappedRoles,
	Operator:    "AppWrapper controller",
	Style:       Described,
	Status: Status{Word: path("status.phase"), Waits: "Suspended", While: "PodsReady", Words: map[Phase][]string{
		Starting: {"Resuming"}, Running: {"Running"}, Restarting: {"Resetting"}, Succeeded: {"Succeeded"}, Failed: {"Failed"}}},
	Numbers: Numbers{Unranked: true, Place: func(labels map[string]string, roles map[string]int64) (string, int) {
		for _, k := range wrappable() {
			if k.PodLabel != "" && labels[k.PodLabel] != "" {
				p := k.PodRole(labels, roles)
				return p.Role, p.Index
			}
		}
		return "", -1
	}},
	Made:   wrappedPod,
	Seen:   wrappedTemplate,
	Assign: assignWrapped,
	Columns: func() []Column {
		return []Column{{Name: "Status", At: path("status.phase")}, {Name: "Quota Reserved", Condition: "QuotaReserved"}, {Name: "Resources Deployed", Condition: "ResourcesDeployed"}, {Name: "Unhealthy", Condition: "Unhealthy"}}
	},
	Refuse: refuseWrapped,
}

// wrappable returns the kinds whose pods an AppWrapper finds by itself; the pods of others are declared. Ray's
// groups of workers count as one pod for each replica, which is one where the number is missing.
//
// Source: project-codeflare/appwrapper v1.2.2, InferPodSets in pkg/utils/utils.go.
func wrappable() []Job {
	out := []Job{BatchJob, JobSet, PyTorchJob, RayCluster, RayJob, PodKind, DeploymentKind, StatefulSetKind}
	for i := range out {
		if out[i].Group != RayJob.Group {
			continue
		}
		out[i].Roles = slices.Clone(out[i].Roles)
		for r := range out[i].Roles {
			out[i].Roles[r].OrNone, out[i].Roles[r].Times = false, nil
		}
	}
	return out
}

const mostPodSets = 8 // of an AppWrapper

// component is one object of an AppWrapper.
type component struct {
	at     []string // the path of the component
	entry  map[string]any
	object map[string]any
	kind   Job // empty for kinds that are not wrappable
}

func components(object map[string]any) []component {
	list, _ := lookup(object, path("spec.components")).([]any)
	var out []component
	for i, item := range list {
		c := component{at: append(path("spec.components"), strconv.Itoa(i))}
		c.entry, _ = item.(map[string]any)
		c.object, _ = c.entry["template"].(map[string]any)
		for _, k := range wrappable() {
			if Text(c.object, "apiVersion") == k.GroupVersion() && Text(c.object, "kind") == k.Kind {
				c.kind = k
			}
		}
		out = append(out, c)
	}
	return out
}

// inferred returns the roles of the object of a component, with paths from the component.
func (c component) inferred() []Role {
	below := func(more ...[]string) []string {
		return slices.Concat(append([][]string{path("template")}, more...)...)
	}
	var out []Role
	for _, r := range c.kind.Roles {
		for _, at := range places(c.object, r.Path) {
			part, _ := lookup(c.object, at).(map[string]any)
			if _, ok := lookup(part, r.Template).(map[string]any); part == nil || !ok {
				continue
			}
			role := Role{Path: c.at, Name: r.Name, Template: below(at, r.Template)}
			if role.Name == "" {
				role.Name = at[len(at)-1]
				if s := Text(part, r.NameKey); s != "" {
					role.Name = s
				}
			}
			switch c.kind.Kind {
			case BatchJob.Kind, JobSet.Kind:
				role.Order.Index = completionIndexLabel
			case PyTorchJob.Kind:
				role.Order.Index = replicaIndexLabel
			}
			if c.kind.Kind == JobSet.Kind {
				role.Order.Group, role.Order.Groups = jobIndexLabel, 1
				if n, ok := number(part, r.Replicas); ok {
					role.Order.Groups = int32(n)
				}
			}
			for to, from := range map[*[]string][]string{&role.Replicas: r.Replicas, &role.Times: r.Times, &role.AtMost: r.AtMost} {
				if len(from) > 0 {
					*to = below(at, from)
				}
			}
			out = append(out, role)
		}
	}
	return out
}

// declared returns the roles of the pod sets that a component declares, nil where it
// declares none.
func (c component) declared() []Role {
	sets, _ := c.entry["podSets"].([]any)
	var out []Role
	for i, s := range sets {
		at, err := templatePath(Text(s, "path"))
		if err != nil {
			continue
		}
		role := Role{Path: c.at, Replicas: []string{"podSets", strconv.Itoa(i), "replicas"}, Template: at, Declared: true}
		noted := func(key string) string {
			return Text(s, "annotations", "workload.codeflare.dev.appwrapper/tas-"+key)
		}
		role.Order = Order{Index: noted("pod-index-label"), Group: noted("sub-group-index-label")}
		if n, err := strconv.ParseInt(noted("sub-group-count"), 10, 32); err == nil {
			role.Order.Groups = int32(n)
		}
		for _, r := range c.inferred() {
			if slices.Equal(r.Template, at) {
				role.Name = r.Name
			}
		}
		if role.Name == "" && len(at) > 2 {
			role.Name = at[len(at)-2] // the map of a replica type, as a rule
		}
		if role.Name == "" || role.Name == "spec" || role.Name == "template" {
			role.Name = strings.ToLower(Text(c.object, "kind"))
		}
		out = append(out, role)
	}
	return out
}

func (c component) roles() []Role {
	if sets, _ := c.entry["podSets"].([]any); len(sets) > 0 {
		return c.declared()
	}
	return c.inferred()
}

// wrappedRoles returns a role for each pod set of an AppWrapper, in Kueue's order
// (pkg/controller/jobs/appwrapper).
func wrappedRoles(object map[string]any) []Role {
	var out []Role
	taken := map[string]bool{}
	for _, c := range components(object) {
		for i, r := range c.roles() {
			number := strconv.Itoa(len(out))
			if taken[r.Name] {
				r.Name += "-" + number
			}
			taken[r.Name] = true
			r.PodSet = Text(object, "metadata", "name") + "-" + number
			r.Info = []string{"podSetInfos", strconv.Itoa(i)}
			out = append(out, r)
		}
	}
	return out
}

// templatePath turns the path of a pod set, template.spec.x[0].template, into keys.
func templatePath(text string) ([]string, error) {
	if !strings.HasPrefix(text, "template") {
		return nil, fmt.Errorf("first element of the path must be 'template'")
	}
	var out []string
	for _, p := range strings.Split(text, ".") {
		key, rest, _ := strings.Cut(p, "[")
		out = append(out, key)
		for rest != "" {
			number, more, found := strings.Cut(rest, "]")
			if _, err := strconv.Atoi(number); !found || err != nil {
				return nil, fmt.Errorf("invalid array index %q", rest)
			}
			out, rest = append(out, number), strings.TrimPrefix(more, "[")
		}
	}
	return out, nil
}

// wrappedPod names a pod as the operator of the object that it belongs to does.
func wrappedPod(p Planned) (string, map[string]string) {
	for _, c := range components(p.Object) {
		for _, r := range c.roles() {
			t, _ := lookup(c.entry, r.Template).(map[string]any)
			if t == nil || p.Part.At == nil || !slices.Equal(p.Part.At, slices.Concat(c.at, r.Template)) {
				continue
			}
			inner := Planned{Name: Text(c.object, "metadata", "name"), UID: p.UID, Object: c.object, Part: p.Part, Index: p.Index}
			inner.Part.Name = r.Name
			if inner.Name == "" {
				inner.Name = p.Name
			}
			if c.kind.Made == nil {
				break
			}
			name, labels := c.kind.Made(inner)
			if c.kind.PodLabel != "" {
				labels[c.kind.PodLabel] = inner.Name
			}
			return name, labels
		}
	}
	return p.Name + "-" + strings.ToLower(p.Part.Name) + "-" + strconv.FormatInt(p.Index, 10), map[string]string{}
}

// What Kueue sees of the pods in an AppWrapper, and of their containers (GetPodTemplateSpec).
var (
	wrappedSpec = []string{"restartPolicy", "terminationGracePeriodSeconds", "dnsPolicy", "nodeSelector", "nodeName", "securityContext", "affinity",
		"schedulerName", "tolerations", "priorityClassName", "preemptionPolicy", "overhead", "topologySpreadConstraints"}
	wrappedContainer = []string{"name", "image", "command", "args", "terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy", "securityContext"}
)

func wrappedTemplate(_ map[string]any, _ string, t map[string]any) map[string]any {
	from, _ := t["spec"].(map[string]any)
	spec := only(from, wrappedSpec)
	for _, list := range []string{"initContainers", "containers"} {
		all, _ := from[list].([]any)
		var kept []any
		for _, c := range all {
			c, _ := c.(map[string]any)
			k := only(c, wrappedContainer)
			k["resources"] = only(lookup(c, path("resources")), []string{"requests", "limits"})
			kept = append(kept, k)
		}
		if kept != nil {
			spec[list] = kept
		}
	}
	return map[string]any{"metadata": only(t["metadata"], []string{"labels", "annotations"}), "spec": spec}
}

func only(from any, keys []string) map[string]any {
	out := map[string]any{}
	m, _ := from.(map[string]any)
	for _, k := range keys {
		if v, ok := m[k]; ok {
			out[k] = v
		}
	}
	return out
}

// assignWrapped stores what Kueue adds to the pods of each pod set, nil to remove it. It
// reports whether the object changes.
func assignWrapped(object map[string]any, infos []map[string]any) bool {
	changed := false
	for _, c := range components(object) {
		roles := c.roles()
		if infos == nil {
			_, had := c.entry["podSetInfos"]
			delete(c.entry, "podSetInfos")
			changed = changed || had
			continue
		}
		var list []any
		for range roles {
			if len(infos) > 0 {
				list, infos = append(list, infos[0]), infos[1:]
			}
		}
		if list != nil {
			c.entry["podSetInfos"], changed = list, true
		}
	}
	return changed
}

// refuseWrapped returns the field and the reason for which the webhook of AppWrappers
// refuses one, "" if it does not. Source: internal/webhook/appwrapper_webhook.go, v1.2.2.
func refuseWrapped(object map[string]any) (at, why string) {
	sets := 0
	for i, c := range components(object) {
		at := fmt.Sprintf("spec.components[%d]", i)
		inferred, declared := c.inferred(), c.declared()
		listed, _ := c.entry["podSets"].([]any)
		sets += max(len(inferred), len(listed))
		ns := Text(c.object, "metadata", "namespace")
		switch {
		case c.object == nil:
			return at + ".template", "must be an object"
		case Text(c.object, "apiVersion") == appWrapperVersion && Text(c.object, "kind") == "AppWrapper":
			return at + ".template", "Nested AppWrappers are forbidden"
		case ns != "" && ns != Text(object, "metadata", "namespace") && Text(object, "metadata", "namespace") != "":
			return at + ".template.metadata.namespace", "AppWrappers cannot create objects in other namespaces"
		}
		for j, s := range listed {
			keys, err := templatePath(Text(s, "path"))
			t, isMap := lookup(c.entry, keys).(map[string]any)
			if _, ok := t["spec"].(map[string]any); err != nil || !isMap || !ok {
				return fmt.Sprintf("%s.podSets[%d].path", at, j), fmt.Sprintf("path %q does not refer to a v1.PodSpecTemplate", Text(s, "path"))
			}
		}
		if why := differs(c, inferred, declared); why != "" {
			return at + ".podSets", why
		}
	}
	switch {
	case sets == 0:
		return "spec.components", "components contains no podspecs"
	case sets > mostPodSets:
		return "spec.components", fmt.Sprintf("components contains %d podspecs; at most %d are allowed", sets, mostPodSets)
	}
	return "", ""
}

// appWrapperVersion is the API version of AppWrappers.
const appWrapperVersion = "workload.codeflare.dev/v1beta2"

// differs compares the declared pod sets of a component with those of its object.
func differs(c component, inferred, declared []Role) string {
	if len(declared) == 0 || len(inferred) == 0 {
		return ""
	}
	if len(inferred) != len(declared) {
		return fmt.Sprintf("DeclaredPodSet count %d differs from inferred count %d", len(declared), len(inferred))
	}
	for _, want := range inferred {
		text := strings.Join(want.Template, ".")
		at := slices.IndexFunc(declared, func(d Role) bool { return slices.Equal(d.Template, want.Template) })
		if at < 0 {
			return fmt.Sprintf("PodSet with path '%s' is missing", text)
		}
		if have, n := declared[at].pods(c.entry), want.pods(c.entry); have != n {
			return fmt.Sprintf("replica count %d differs from inferred count %d for PodSet at path position '%s'", have, n, text)
		}
	}
	return ""
}
