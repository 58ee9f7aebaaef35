package jobobject

import (
	"slices"
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// View reads and changes a job object by its kind's row in the kinds table.
type View struct {
	Kind   kinds.Job
	Object map[string]any
}

// Role is one role of a job: where its replicas are counted and its pods.
type Role struct {
	Name     string
	Part     map[string]any // holds the numbers of pods
	Row      kinds.Role     // where they are
	Template map[string]any
	At       string // the path of Part
	PodAt    string // the path of the pods' spec
	// Trains: its pods run the training processes. A launcher only starts them.
	Trains bool
}

// Of returns the view of a job object.
func Of(object map[string]any) (*View, bool) {
	kind, ok := kinds.JobFor(manifest.TextOf(object["apiVersion"]), manifest.TextOf(object["kind"]))
	if !ok {
		return nil, false
	}
	return &View{kind, object}, true
}

// Main returns the view of the job among objects and its place, nil and -1 where there is
// none, and the places of all jobs (see kinds.Main).
func Main(objects []map[string]any) (job *View, at int, all []int) {
	all = kinds.Main(len(objects), func(i int) (string, string) {
		return manifest.TextOf(objects[i]["apiVersion"]), manifest.TextOf(objects[i]["kind"])
	})
	if len(all) == 0 {
		return nil, -1, nil
	}
	job, _ = Of(objects[all[0]])
	return job, all[0], all
}

// Unfold prepares objects for changes of their pods (kinds.Job.Unfold).
func Unfold(objects []map[string]any) {
	for _, o := range objects {
		if j, ok := Of(o); ok {
			j.Kind.Unfold(o)
		}
	}
}

// Fold puts the changes of the pods of unfolded objects into the objects.
func Fold(objects []map[string]any) error {
	for _, o := range objects {
		j, ok := Of(o)
		if !ok {
			continue
		}
		if err := j.Kind.Fold(o); err != nil {
			return errs.Wrap(err, "the settings do not fit this "+j.Kind.Kind).WithCode(errs.Usage)
		}
	}
	return nil
}

// Spec returns the job's spec. It creates a missing one.
func (j *View) Spec() map[string]any { return Child(j.Object, "spec") }

// Roles returns the job's roles in a stable order.
func (j *View) Roles() []Role {
	var out []Role
	kind, whole := j.Kind.Whole(j.Object)
	for _, r := range kind.RolesIn(whole) {
		each(whole, r.Path, "", manifest.Location{}, func(key string, at manifest.Location, part map[string]any) {
			name := r.Name
			if name == "" {
				name = key
				if s, ok := part[r.NameKey].(string); ok && r.NameKey != "" {
					name = s
				}
			}
			template, _ := kinds.At(part, r.Template...).(map[string]any)
			if template == nil {
				return
			}
			pod := below(at, part, append(slices.Clone(r.Template), "spec"))
			role := Role{Name: name, Part: part, Row: r, Template: template, At: at.Path, PodAt: pod.Path}
			if j.Kind.Runtime != nil { // places in the child are not in the manifest
				role.At, role.PodAt = "spec", "spec.trainer"
			} else if j.Kind.Form != nil {
				role.PodAt = role.At
			}
			role.Trains = !r.Leads && (name != "Launcher" || Inner(j.Object, "spec")["runLauncherAsWorker"] == true)
			out = append(out, role)
		})
	}
	return out
}

// each calls f for every map that the path leads to; "*" stands for every value
// of a map, in the order of its keys, or item of a list.
func each(v any, path []string, key string, at manifest.Location, f func(key string, at manifest.Location, part map[string]any)) {
	m, isMap := v.(map[string]any)
	switch {
	case len(path) == 0:
		if isMap {
			f(key, at, m)
		}
	case path[0] != "*":
		each(kinds.At(v, path[0]), path[1:], key, below(at, v, path[:1]), f)
	case isMap:
		for _, k := range manifest.SortedKeys(m) {
			each(m[k], path[1:], k, at.Field(k), f)
		}
	default:
		l, _ := v.([]any)
		for i, item := range l {
			each(item, path[1:], strconv.Itoa(i), at.Item(i), f)
		}
	}
}

// below returns the place that a path leads to in what is at a place.
func below(at manifest.Location, v any, path []string) manifest.Location {
	for _, key := range path {
		if i, err := strconv.Atoi(key); err == nil && isList(v) {
			at = at.Item(i)
		} else {
			at = at.Field(key)
		}
		v = kinds.At(v, key)
	}
	return at
}

func isList(v any) bool { _, ok := v.([]any); return ok }

// Count returns the number of the role's pods.
func (r Role) Count() int {
	first, given := r.number(r.Row.Replicas)
	if !given && r.Row.OrNone && r.at(r.Row.Replicas) == nil {
		first = 0
	}
	each, _ := r.number(r.Row.Times)
	if most, given := r.number(r.Row.AtMost); given && len(r.Row.Times) > 0 {
		each = min(each, most)
	} else if given {
		first = min(first, most)
	}
	return first * each
}

// Each returns the number of pods of one of the role's jobs or hosts, if it has several.
func (r Role) Each() int { n, _ := r.number(r.Row.Times); return n }

// number returns a count of the part, 1 where there is none; false unless it says a number.
func (r Role) number(path []string) (int, bool) {
	if n, ok := manifest.Count(r.at(path)); ok && len(path) > 0 {
		return n, true
	}
	return 1, false
}

func (r Role) at(path []string) any {
	if len(path) == 0 {
		return nil
	}
	return kinds.At(r.Part, path...)
}

// counted reports whether every number of pods that the part has is a number: a
// placeholder is none.
func (r Role) counted() bool {
	for _, path := range [][]string{r.Row.Replicas, r.Row.Times, r.Row.AtMost} {
		if _, ok := r.number(path); !ok && r.at(path) != nil {
			return false
		}
	}
	return true
}

// Counter returns the path of the number that says how many of the role's pods train:
// the pods of each job where the manifest says that, else the replicas.
func (r Role) Counter() []string {
	if len(r.Row.AtMost) > 0 && r.at(r.Row.Times) != nil {
		return r.Row.Times
	}
	return r.Row.Replicas
}

// parts returns the number beside the one of Counter.
func (r Role) parts() int {
	other := r.Row.Times
	if slices.Equal(r.Counter(), other) {
		other = r.Row.Replicas
	}
	n, _ := r.number(other)
	return n
}

// scale makes the role have n pods; false where the other number does not divide n.
func (r Role) scale(n int) bool {
	path, parts := r.Counter(), r.parts()
	if parts < 1 || n%parts != 0 {
		return false
	}
	set := func(path []string) {
		last := len(path) - 1
		m, ok := kinds.At(r.Part, path[:last]...).(map[string]any)
		if !ok {
			m = kinds.Child(r.Part, path[:last]...)
		}
		m[path[last]] = int64(n / parts)
	}
	set(path)
	if len(r.Row.AtMost) > 0 && (slices.Equal(path, r.Row.Times) || len(r.Row.Times) == 0) {
		set(r.Row.AtMost)
	}
	return true
}

// Pod returns the spec of the role's pods. It creates a missing one.
func (r Role) Pod() map[string]any { return Child(r.Template, "spec") }

// Nodes returns the number of pods that train.
func (j *View) Nodes() int {
	total := 0
	for _, r := range j.Roles() {
		if r.Trains {
			total += r.Count()
		}
	}
	return max(total, 1)
}

// States returns the number of pods that train when the manifest says it: in
// numbers, or by leaving it at one.
func (j *View) States() (int, bool) {
	for _, r := range j.Roles() {
		if r.Trains && !r.counted() {
			return 0, false
		}
	}
	return j.Nodes(), true
}

// SetNodes sets the number of pods that train.
func (j *View) SetNodes(n int) error {
	var training []Role
	for _, r := range j.Roles() {
		if r.Trains && len(r.Row.Replicas) > 0 {
			training = append(training, r)
		}
		if r.Row.Declared {
			return errs.Usagef("%s cannot be applied to this %s: its podSets state the number of pods, too", setting.NodeCount, j.Kind.Kind)
		}
	}
	switch {
	case j.Kind.Numbers.First == "Master":
		return j.setWorkers(n)
	case len(training) == 1 && training[0].scale(n):
		return nil
	case len(training) == 1:
		return errs.Usagef("%s %d cannot be applied to this %s: %s has %d equal parts", setting.NodeCount, n, j.Kind.Kind, training[0].Name, training[0].parts())
	}
	return errs.Usagef("%s cannot be applied to this %s: it has %d roles with training pods", setting.NodeCount, j.Kind.Kind, len(training)).
		Suggest(setting.Set.Option("PATH.replicas=N").WithNote("for each role"))
}

// setWorkers counts a master, where there is one, as one of the n.
func (j *View) setWorkers(n int) error {
	path := j.Kind.Roles[0].Path
	specs := Inner(j.Object, path[:len(path)-1]...)
	master, worker := Inner(specs, "Master"), Inner(specs, "Worker")
	if master == nil && worker == nil {
		return errs.Usagef("%s cannot be applied to this %s: it has no Worker", setting.NodeCount, j.Kind.Kind)
	}
	if master != nil {
		master["replicas"] = int64(1)
		n--
	}
	switch {
	case n == 0:
		delete(specs, "Worker")
	case worker == nil:
		specs["Worker"] = CopyOf(master)
		specs["Worker"].(map[string]any)["replicas"] = int64(n)
	default:
		worker["replicas"] = int64(n)
	}
	return nil
}

// Container returns the main container of a pod, nil if it has none: the container that the operator uses, or
// the first.
func Container(pod map[string]any) map[string]any {
	for _, name := range kinds.MainContainers() {
		if c := Named(pod["containers"], name); c != nil {
			return c
		}
	}
	if all := MapsIn(pod["containers"]); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Tasks returns the number of processes per node in the manifest, 0 if it has none.
func (j *View) Tasks() int {
	n, _ := manifest.Count(kinds.At(j.Object, j.Kind.Launch().Tasks...))
	return n
}

// SetTasks sets the number of processes per node, if the kind has a field for it.
func (j *View) SetTasks(n int) {
	l := j.Kind.Launch()
	policy := Inner(j.Object, "spec", "elasticPolicy")
	switch {
	case len(l.Tasks) == 0:
	case l.TasksElastic != "" && policy[l.TasksElastic] != nil:
		policy[l.TasksElastic] = int64(n) // the operator refuses both
	case l.TasksText:
		j.put(l.Tasks, strconv.Itoa(n))
	default:
		j.put(l.Tasks, int64(n))
	}
}

// FirstPod returns the DNS name of the job's first pod, "" if it has none.
func (j *View) FirstPod(name string) string {
	if j.Kind.Launch().First == nil {
		return ""
	}
	return j.Kind.Launch().First(name, j.Object)
}

// put sets a field of the job.
func (j *View) put(path []string, v any) {
	last := len(path) - 1
	kinds.Child(j.Object, path[:last]...)[path[last]] = v
}

// SetRetries sets how often the job is tried again, if the kind has a field for it.
func (j *View) SetRetries(n int) {
	if at := j.Kind.Launch().Restart.Retries; len(at) > 0 {
		j.put(at, int64(n))
	}
}

// Starters returns the roles whose pods start the training: the launcher, or all roles that train.
func (j *View) Starters() []Role {
	var launchers, trainers []Role
	for _, r := range j.Roles() {
		switch {
		case r.Name == "Launcher":
			launchers = append(launchers, r)
		case r.Trains:
			trainers = append(trainers, r)
		}
	}
	if len(launchers) > 0 {
		return launchers
	}
	return trainers
}

// Asked returns the requests of the manifest's training pods for the resources that match.
func (j *View) Asked(match func(string) bool) (name string, n int, ok bool) {
	if j == nil {
		return "", 0, false
	}
	for _, r := range j.Roles() {
		if !r.Trains {
			continue
		}
		resources := Inner(Container(r.Pod()), "resources")
		for _, list := range []map[string]any{Inner(resources, "requests"), Inner(resources, "limits")} {
			for _, k := range manifest.SortedKeys(list) {
				if v, isCount := manifest.Count(list[k]); isCount && match(k) {
					return k, v, true
				}
			}
		}
	}
	return "", 0, false
}
