package kinds

import (
	"slices"
	"strings"
)

// Job is a kind of job: what its resource is called and where in the object the
// things are that hyperpod reads or writes.
type Job struct {
	Resource
	// PodLabel is the label on a job's pods whose value is the job's name, or, where
	// PodLabelFrom is given, the text that it leads to in the object (PodSelector).
	PodLabel     string
	PodLabelFrom []string
	// SuspendPath leads to the boolean that suspends a job.
	SuspendPath []string
	// Roles lead to the parts of a job that become pods.
	Roles []Role
	// NeedsQueue: the kind also serves things that are not training jobs, so only
	// objects with a queue label count as jobs (batch Job, RayCluster).
	NeedsQueue bool
	// Operator names what has to be installed for the kind to be served.
	Operator string
	// Style is how the operator reports the status.
	Style Style
	// Numbers is how the operator numbers and labels pods.
	Numbers Numbers
	// Policy is where the limits of a run are.
	Policy Policy
}

// Style is a form of status that kinds share.
type Style string

// The styles: conditions of the training operators; the counts of batch Jobs, alone and
// as parts of a JobSet; the phases of KubeRay.
const (
	Training  Style = "Training"
	Batch     Style = "Batch"
	JobGroups Style = "JobGroups"
	RayRun    Style = "RayRun"
	RayNodes  Style = "RayNodes"
)

// Numbers has the labels that give a pod's role and its number there.
type Numbers struct {
	// Role and Index are the labels with the name of the role and the number in it.
	Role, Index string
	// First is the role whose pods come before the others in the ranks.
	First string
	// Place replaces both for kinds that number pods by several labels; roles has the
	// number of pods of each role.
	Place func(labels map[string]string, roles map[string]int64) (role string, index int)
	// Unranked: pods have no ranks.
	Unranked bool
}

// Policy says where the limits of a run are, and their fields there. A limit that the
// kind does not have is "".
type Policy struct {
	At                            []string
	TTL, Deadline, Backoff, Clean string
}

// Role is one kind of pod in a job (launcher, worker, ...). In paths, "*" stands
// for every value of a map or item of a list.
type Role struct {
	// Path leads to the part, or parts, that describe the role.
	Path []string
	// Name is the role's name where it is fixed; otherwise NameKey is the key in
	// the part that holds it, or the map key is used.
	Name, NameKey string
	// Replicas leads, below Path, to the number of pods (absent means one, or none with
	// OrNone). Times leads to a second factor, where a role is a number of jobs of
	// several pods.
	Replicas, Times []string
	OrNone          bool
	// AtMost leads to an upper bound of the pods of one replica: a batch Job never
	// has more pods than completions.
	AtMost []string
	// Template leads, below Path, to the pod template.
	Template []string
}

func path(s string) []string { return strings.Split(s, ".") }

// Jobs returns every job kind, in the order people should see them.
func Jobs() []Job {
	return []Job{PyTorchJob, MPIJob, HyperPodPyTorchJob, BatchJob, RayJob, RayCluster, JobSet, TFJob, XGBoostJob, JAXJob, PaddleJob}
}

// Installed reports an API group that an operator brings, so that a cluster may not serve
// it, or at several versions.
func Installed(group string) bool {
	return group == KueueGroup || group == VisibilityGroup ||
		group != BatchJob.Group && slices.ContainsFunc(Jobs(), func(j Job) bool { return j.Group == group })
}

// JobNames returns the kinds' names, in the same order.
func JobNames() []string {
	var out []string
	for _, j := range Jobs() {
		out = append(out, j.Kind)
	}
	return out
}

// JobFor returns the job kind of an object's apiVersion and kind. The version
// is not compared: it only has to be one of the same group.
func JobFor(apiVersion, kind string) (Job, bool) {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		group = ""
	}
	for _, j := range Jobs() {
		if j.Kind == kind && j.Group == group {
			return j, true
		}
	}
	return Job{}, false
}

// JobNamed returns the job kind that a person means by kind, plural or
// "plural.group", whatever the case.
func JobNamed(name string) (Job, bool) {
	for _, j := range Jobs() {
		for _, n := range append([]string{j.Kind, j.Plural, j.FullName(), strings.ToLower(j.Kind) + "." + j.Group}, j.Short...) {
			if strings.EqualFold(n, name) {
				return j, true
			}
		}
	}
	return Job{}, false
}

// ObjectName returns "kind.group/name", as kubectl writes an object with -o name.
func (j Job) ObjectName(name string) string {
	return strings.ToLower(j.Kind) + "." + j.Group + "/" + name
}

// Part is one role of a job object: its name, how many pods it has and its pod
// template, which may be changed in place.
type Part struct {
	Name     string
	Replicas int64
	Template map[string]any
}

// Parts returns the roles of a job object in a stable order (maps by key, lists
// by position). Parts that are missing or of the wrong type are left out.
func (j Job) Parts(object map[string]any) []Part {
	var out []Part
	for _, r := range j.Roles {
		walk(object, r.Path, "", func(key string, part map[string]any) {
			p := Part{Name: r.Name, Replicas: r.pods(part)}
			if p.Name == "" {
				p.Name = key
				if s, ok := part[r.NameKey].(string); ok && r.NameKey != "" {
					p.Name = s
				}
			}
			if t, ok := lookup(part, r.Template).(map[string]any); ok {
				p.Template = t
				out = append(out, p)
			}
		})
	}
	return out
}

// pods is the number of pods of a part: Replicas, each of Times (or, where there
// is none, Replicas itself) at most AtMost.
func (r Role) pods(part map[string]any) int64 {
	count := func(path []string) int64 {
		if n, ok := number(part, path); ok {
			return n
		}
		return 1
	}
	replicas, each := count(r.Replicas), count(r.Times)
	if _, given := number(part, r.Replicas); !given && r.OrNone {
		replicas = 0
	}
	bound, ok := number(part, r.AtMost)
	switch {
	case ok && len(r.Times) > 0:
		each = min(each, bound)
	case ok:
		replicas = min(replicas, bound)
	}
	return replicas * each
}

// PodSelector returns the label selector of a job object's pods, or "" as long
// as they are unknown (a RayJob that has no cluster yet).
func (j Job) PodSelector(object map[string]any) string {
	from := j.PodLabelFrom
	if len(from) == 0 {
		from = path("metadata.name")
	}
	if value, ok := lookup(object, from).(string); ok && value != "" {
		return j.PodLabel + "=" + value
	}
	return ""
}
