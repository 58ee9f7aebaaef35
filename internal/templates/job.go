package templates

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// jobView reads and changes a job object by its kind's row in the kinds table.
type jobView struct {
	kind   kinds.Job
	object map[string]any
}

// role is one role of a job: where its replicas are counted and its pods.
type role struct {
	name     string
	part     map[string]any // holds the number of replicas
	replicas string         // its key, "" for a role of one pod
	template map[string]any
	at       string // the path of part
	podAt    string // the path of the pods' spec
	// trains: its pods run the training processes. A launcher only starts them.
	trains bool
}

// viewOf returns the view of a job object.
func viewOf(object map[string]any) (*jobView, bool) {
	kind, ok := kinds.JobFor(textOf(object["apiVersion"]), textOf(object["kind"]))
	if !ok {
		return nil, false
	}
	return &jobView{kind, object}, true
}

func (j *jobView) isKind(k ...kinds.Job) bool {
	return slices.ContainsFunc(k, func(k kinds.Job) bool { return k.Kind == j.kind.Kind && k.Group == j.kind.Group })
}

func (j *jobView) spec() map[string]any { return child(j.object, "spec") }

// roles returns the job's roles in a stable order.
func (j *jobView) roles() []role {
	var out []role
	for _, r := range j.kind.Roles {
		each(j.object, r.Path, "", place{}, func(key string, at place, part map[string]any) {
			name := r.Name
			if name == "" {
				name = key
				if s, ok := part[r.NameKey].(string); ok && r.NameKey != "" {
					name = s
				}
			}
			template := inner(part, r.Template...)
			if template == nil {
				return
			}
			pod := at
			for _, key := range append(slices.Clone(r.Template), "spec") {
				pod = pod.field(key)
			}
			out = append(out, role{name: name, part: part, replicas: strings.Join(r.Replicas, "."), template: template, at: at.path, podAt: pod.path,
				trains: name != "head" && (name != "Launcher" || inner(j.object, "spec")["runLauncherAsWorker"] == true)})
		})
	}
	return out
}

// each calls f for every map that the path leads to; "*" stands for every value
// of a map, in the order of its keys, or item of a list.
func each(v any, path []string, key string, at place, f func(key string, at place, part map[string]any)) {
	m, isMap := v.(map[string]any)
	switch {
	case len(path) == 0:
		if isMap {
			f(key, at, m)
		}
	case path[0] != "*":
		if isMap {
			each(m[path[0]], path[1:], key, at.field(path[0]), f)
		}
	case isMap:
		for _, k := range sortedKeys(m) {
			each(m[k], path[1:], k, at.field(k), f)
		}
	default:
		l, _ := v.([]any)
		for i, item := range l {
			each(item, path[1:], strconv.Itoa(i), at.item(i), f)
		}
	}
}

func (r role) count() int {
	if r.replicas == "" {
		return 1
	}
	if n, ok := count(r.part[r.replicas]); ok {
		return n
	}
	return 1
}

func (r role) pod() map[string]any { return child(r.template, "spec") }

// nodes is the number of pods that train.
func (j *jobView) nodes() int {
	total := 0
	for _, r := range j.roles() {
		if r.trains {
			total += r.count()
		}
	}
	return max(total, 1)
}

// states returns the number of pods that train when the manifest says it: in
// numbers, or by leaving it at one.
func (j *jobView) states() (int, bool) {
	for _, r := range j.roles() {
		if v, has := r.part[r.replicas]; r.trains && has {
			if _, ok := count(v); !ok {
				return 0, false
			}
		}
	}
	return j.nodes(), true
}

// setNodes makes n pods train.
func (j *jobView) setNodes(n int) error {
	var training []role
	for _, r := range j.roles() {
		if r.trains && r.replicas != "" {
			training = append(training, r)
		}
	}
	switch {
	case j.isKind(kinds.PyTorchJob, kinds.XGBoostJob):
		return j.setWorkers(n)
	case j.isKind(kinds.BatchJob):
		j.spec()["parallelism"] = int64(n)
		j.spec()["completions"] = int64(n)
		return nil
	case len(training) == 1 && training[0].replicas == "replicas":
		training[0].part["replicas"] = int64(n)
		return nil
	}
	return errs.Usagef("--node-count cannot be laid over this %s: it has %d roles that train", j.kind.Kind, len(training)).
		WithTry("--set PATH.replicas=N for each of them")
}

// setWorkers counts a master, where there is one, as one of the n.
func (j *jobView) setWorkers(n int) error {
	path := j.kind.Roles[0].Path
	specs := inner(j.object, path[:len(path)-1]...)
	master, worker := inner(specs, "Master"), inner(specs, "Worker")
	if master == nil && worker == nil {
		return errs.Usagef("--node-count cannot be laid over this %s: it has no Worker", j.kind.Kind)
	}
	if master != nil {
		master["replicas"] = int64(1)
		n--
	}
	switch {
	case n == 0:
		delete(specs, "Worker")
	case worker == nil:
		specs["Worker"] = copyOf(master)
		specs["Worker"].(map[string]any)["replicas"] = int64(n)
	default:
		worker["replicas"] = int64(n)
	}
	return nil
}

// mainContainers are the names by which the operators find the container that
// trains.
var mainContainers = []string{"pytorch", "pytorch-job-container", "tensorflow", "xgboost"}

// container returns the container of a pod that does the work, nil when it has
// none: the one the operator looks for, else the first.
func container(pod map[string]any) map[string]any {
	for _, name := range mainContainers {
		if c := named(pod["containers"], name); c != nil {
			return c
		}
	}
	if all := mapsIn(pod["containers"]); len(all) > 0 {
		return all[0]
	}
	return nil
}

// tasks is the number of processes a node that the manifest states, 0 when it
// states none.
func (j *jobView) tasks() int {
	spec := inner(j.object, "spec")
	for _, key := range []string{"nprocPerNode", "slotsPerWorker"} {
		if n, ok := count(spec[key]); ok {
			return n
		}
	}
	return 0
}

// setTasks states the number of processes a node where the kind has a field for it.
func (j *jobView) setTasks(n int) {
	switch {
	case j.isKind(kinds.PyTorchJob) && inner(j.object, "spec", "elasticPolicy")["nProcPerNode"] != nil:
		inner(j.object, "spec", "elasticPolicy")["nProcPerNode"] = int64(n) // the operator refuses both
	case j.isKind(kinds.PyTorchJob, kinds.HyperPodPyTorchJob):
		j.spec()["nprocPerNode"] = strconv.Itoa(n)
	case j.isKind(kinds.MPIJob):
		j.spec()["slotsPerWorker"] = int64(n)
	}
}

// firstPod is the DNS name of a job's first pod, "" where there is none.
func (j *jobView) firstPod(name string) string {
	if !j.isKind(kinds.PyTorchJob) {
		return ""
	}
	if inner(j.object, "spec", "pytorchReplicaSpecs", "Master") != nil {
		return name + "-master-0"
	}
	return name + "-worker-0"
}

// starters are the roles whose pods start the training: the launcher where there
// is one, else all that train.
func (j *jobView) starters() []role {
	var launchers, trainers []role
	for _, r := range j.roles() {
		switch {
		case r.name == "Launcher":
			launchers = append(launchers, r)
		case r.trains:
			trainers = append(trainers, r)
		}
	}
	if len(launchers) > 0 {
		return launchers
	}
	return trainers
}

// asked returns what a manifest's training pods ask for of the resources that match.
func (j *jobView) asked(match func(string) bool) (name string, n int, ok bool) {
	if j == nil {
		return "", 0, false
	}
	for _, r := range j.roles() {
		if !r.trains {
			continue
		}
		resources := inner(container(r.pod()), "resources")
		for _, list := range []map[string]any{inner(resources, "requests"), inner(resources, "limits")} {
			for _, k := range sortedKeys(list) {
				if v, isCount := count(list[k]); isCount && match(k) {
					return k, v, true
				}
			}
		}
	}
	return "", 0, false
}
