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
	// PodLabelElse leads to that text as long as PodLabelFrom leads to none.
	PodLabelElse []string
	// SelectorAt leads to the labels that select a job's pods, for kinds that name them, and
	// SelectorText to a label selector as a text.
	SelectorAt, SelectorText []string
	// Itself: the object is the pod.
	Itself bool
	// OnePod: Kueue makes a Workload of each pod, owned by the pod.
	OnePod bool
	// OneCluster: MultiKueue cannot send jobs of this kind to worker clusters (Kueue's integration has no adapter for it).
	OneCluster bool
	// GroupsAt leads to the number of groups. Kueue makes a Workload of each.
	GroupsAt []string
	// SuspendPath leads to the boolean that suspends a job; nil for kinds without one,
	// whose pods Kueue holds.
	SuspendPath []string
	// Stop is the field that stops objects of a kind without a suspend field, nil where there is none.
	Stop *Stop
	// Roles lead to the parts of a job that become pods.
	Roles []Role
	// RolesOf finds the roles of one object, for kinds whose objects contain others. They
	// have no Roles.
	RolesOf func(object map[string]any) []Role
	// Form is how objects without pod templates describe their pods; they have no Roles.
	Form *Form
	// Seen is what Kueue sees of the pod template of a role, nil where it sees all.
	Seen func(object map[string]any, role string, template map[string]any) map[string]any
	// CPUUnseen returns a field whose CPU Kueue does not count, and the field that it counts instead; "" where it counts all.
	CPUUnseen func(object map[string]any) (unseen, counted string)
	// Shares reports an object that runs on the pods of another one, and has none of its own.
	Shares func(object map[string]any) bool
	// Assign stores what Kueue adds to the pods of each pod set (metadata and spec fields of
	// a pod), and removes it again without infos, for kinds that keep it apart from their
	// templates. It reports whether the object changed.
	Assign func(object map[string]any, infos []map[string]any) bool
	// Refuse returns the field and the reason for which the operator's webhook refuses a
	// new object, "" if it does not.
	Refuse func(object map[string]any) (at, why string)
	// Runtime is where the parts come from for kinds whose pods another object describes;
	// they have no Roles.
	Runtime *Runtime
	// NeedsQueue: the kind also serves things that are not training jobs, so only
	// objects with a queue label count as jobs (batch Job, RayCluster).
	NeedsQueue bool
	// External: Kueue knows the kind only as an external framework; its operator makes the Workloads.
	External bool
	// ChecksTopology: Kueue's webhook for the kind examines the topology annotations of its pods. For other kinds without a
	// linked integration, only the webhook for the pods does.
	ChecksTopology bool
	// Serves: objects run until they are deleted; none of them succeeds.
	Serves bool
	// Scales: the kind has the scale subresource, which kubectl scale changes.
	Scales bool
	// Pauses: an object may have no pods; it waits until somebody gives it some.
	Pauses bool
	// Uncontrolled: an object that a controller made is a part of something else.
	Uncontrolled bool
	// SpecOnly: the pod template has no metadata. The operator gives pods the labels of the object.
	SpecOnly bool
	// Beside: objects of the kind also go along with a job of another kind, and clusters use
	// them for other things. A user without permission to list them misses nothing.
	Beside bool
	// Services: the operator gives each pod a Service of its name.
	Services bool
	// OwnSelector: the API server gives an object a selector by its UID.
	OwnSelector bool
	// Gate is the feature gate of Kueue, off by default, without which it does not govern the kind.
	Gate string
	// Operator names what has to be installed for the kind to be served.
	Operator string
	// Columns are those of the kind's CRD, in which kubectl prints it beside name and age; nil for one with the newest condition.
	Columns func() []Column
	// Style is how the operator reports the status.
	Style Style
	// Status says where the status is, for Style Described.
	Status Status
	// Selector is a label selector of the objects that can count as jobs, "" for all.
	Selector string
	// Numbers is how the operator numbers and labels pods.
	Numbers Numbers
	// Policy is where the limits of a run are.
	Policy Policy
	// launch is how the pods start the training, nil if unknown.
	launch *Launch
	// Submitter is a label with the job's name on the pod that runs its program, for kinds
	// whose other pods only serve that.
	Submitter string
	// Made is what the operator calls and labels its pods, beside PodLabel; nil for
	// JOB-ROLE-NUMBER and no labels.
	Made func(Planned) (name string, labels map[string]string)
	// Volumes are the names of volumes that the operator adds to the pods, so that containers can mount them.
	Volumes []string
	// PodMaker reports whether the operator creates an object for a job that in turn creates pods, by the object's kind
	// and name, and for which role, "" for several. Events about pods that were refused are about that object. nil for
	// kinds whose operator creates the pods itself.
	PodMaker func(job, kind, name string) (role string, ok bool)
	// RestartPolicy is the operator's default for pods, "" for OnFailure.
	RestartPolicy string
	// Says is the operator's message of a condition, nil for "KIND NAME is WHAT.".
	Says func(namespace, name, what string) string
}

// Stop is a field with a word that stops an object, and another one that starts it again.
type Stop struct {
	At            []string
	Stopped, Runs string
}

// Planned is one pod of a job as the operator plans it: the Index-th of a part. A name
// that ends in "-" gets a random end.
type Planned struct {
	Name, UID string // of the job
	Object    map[string]any
	Part      Part
	Index     int64
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
	// Described is the style of kinds whose description says where their status is.
	Described Style = "Described"
)

// Phase is what the words of an operator mean for a job.
type Phase string

// The phases of a job that an operator starts. A job is Starting with any other word.
const (
	Starting   Phase = "Starting"
	Running    Phase = "Running"
	Restarting Phase = "Restarting"
	Succeeded  Phase = "Succeeded"
	Failed     Phase = "Failed"
)

// Status says where a status of no common style is: in a word, or in the number of pods
// that are ready.
type Status struct {
	// True are condition types, for kinds without a word: the first that is true is the word.
	True []string
	// Word leads to the word, and Words are those that the operator uses, by what they
	// mean, the usual one first. Waits is the word of a suspended job, "" where there is none.
	Word  []string
	Words map[Phase][]string
	Waits string
	// While is a condition that has to be true for the word to mean Running, "" for none.
	While string
	// Ready leads to the number of ready pods, and Wanted to the number that there should
	// be; Each pods stand behind one of that number (1 without it). A job runs as long as
	// some are ready.
	Ready, Wanted []string
	// Reason and Message lead to texts beside the word.
	Reason, Message []string
	// Since leads to the time of the start, and Ended to the one of the end.
	Since, Ended []string
}

// PhaseOf returns what a word of the operator means.
func (s Status) PhaseOf(word string) Phase {
	for phase, words := range s.Words {
		if slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) }) {
			return phase
		}
	}
	return Starting
}

// WordIn returns the word of the operator in an object, "" where there is none.
func (s Status) WordIn(object map[string]any) string {
	for _, name := range s.True {
		list, _ := lookup(object, path("status.conditions")).([]any)
		for _, c := range list {
			if Text(c, "type") == name && Text(c, "status") == "True" {
				return name
			}
		}
	}
	return Text(object, s.Word...)
}

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

// Order has the labels by which Kueue orders pods in a topology: a pod's number and its
// group, and the number of groups, 0 where there is none.
type Order struct {
	Index, Group string
	Groups       int32
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
	// Spares leads, below Path, to a number of pods that stand by. They hold quota too.
	Spares []string
	// LessOne leads, below Path, to a template that takes the place of one pod of each
	// of the Replicas.
	LessOne []string
	// Leads reports that the pods coordinate others and do not train.
	Leads bool
	// PodSet is what Kueue calls the pods, "" for the role's name.
	PodSet string
	// Info leads, below Path, to what Kueue adds to the pods.
	Info []string
	// Order is how Kueue orders the pods in a topology.
	Order Order
	// Declared: the object states the number of pods a second time.
	Declared bool
}

func path(s string) []string { return strings.Split(s, ".") }

// Jobs returns every job kind, in the order people should see them.
func Jobs() []Job {
	return []Job{PyTorchJob, MPIJob, HyperPodPyTorchJob, BatchJob, RayJob, RayCluster, JobSet, TrainJob, TFJob, XGBoostJob, JAXJob, PaddleJob,
		RayService, DeploymentKind, StatefulSetKind, LeaderWorkerSet, PodKind, AppWrapper, Notebook,
		SparkApplication, Workspace, InferenceEndpointConfig, JumpStartModel}
}

// Installed reports an API group that an operator brings, so that a cluster may not serve
// it, or at several versions.
func Installed(group string) bool {
	return group == KueueGroup || group == VisibilityGroup ||
		slices.ContainsFunc(Jobs(), func(j Job) bool { return j.Group == group && j.Operator != Kubernetes })
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
	if j.Group == "" {
		return strings.ToLower(j.Kind) + "/" + name
	}
	return strings.ToLower(j.Kind) + "." + j.Group + "/" + name
}

// Part is one role of a job object: its name, how many pods it has and its pod
// template, which may be changed in place.
type Part struct {
	Name     string
	Replicas int64
	Template map[string]any
	// Spares are pods that stand by.
	Spares int64
	// PodSet is what Kueue calls the part, "" for its only one.
	PodSet string
	// At is the path of the pod template, in the object that has the parts (see Whole): of PlacedParts, and of kinds whose
	// objects contain others.
	At    []string
	Order Order
}

// RolesIn returns the roles of an object (see Whole).
func (j Job) RolesIn(object map[string]any) []Role {
	if j.RolesOf != nil {
		return j.RolesOf(object)
	}
	return j.Roles
}

// Parts returns the roles of a job object in a stable order (maps by key, lists
// by position). Parts that are missing or of the wrong type are left out. The parts of a
// kind with a runtime are those of its child, or of what the object says of it. A template
// that Kueue added to elsewhere is a copy.
func (j Job) Parts(object map[string]any) []Part { return j.parts(object, j.RolesOf != nil) }

// PlacedParts is Parts with the paths of the pod templates, for all kinds.
func (j Job) PlacedParts(object map[string]any) []Part { return j.parts(object, true) }

func (j Job) parts(object map[string]any, placed bool) []Part {
	j, object = j.Whole(object)
	var out []Part
	for _, r := range j.RolesIn(object) {
		walk(object, r.Path, "", func(key string, part map[string]any) {
			p := Part{Name: r.Name, Replicas: r.pods(part), Order: r.Order}
			if p.Name == "" {
				p.Name = key
				if s, ok := part[r.NameKey].(string); ok && r.NameKey != "" {
					p.Name = s
				}
			}
			p.Spares, _ = number(part, r.Spares)
			if p.PodSet = r.PodSet; p.PodSet == "" && (r.Name != "" || r.NameKey == "" || part[r.NameKey] != nil) {
				p.PodSet = p.Name
			}
			if t, ok := lookup(part, r.Template).(map[string]any); ok {
				p.Template = t
				if info, ok := lookup(part, r.Info).(map[string]any); ok && len(r.Info) > 0 {
					p.Template = withInfo(t, info)
				}
				if placed {
					if p.At = slices.Concat(r.Path, r.Template); slices.Contains(p.At, "*") {
						p.At[slices.Index(p.At, "*")] = key
					}
				}
				out = append(out, p)
			}
		})
	}
	return out
}

// pods returns the number of pods of a part: Replicas, each of Times (or, where there
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
	if lookup(part, r.LessOne) != nil && len(r.LessOne) > 0 {
		each--
	}
	return replicas * each
}

// WorkloadSelector returns a label selector of the Workloads of a job with this UID, among
// others where their labels do not say the job.
func (j Job) WorkloadSelector(uid string) string {
	if j.OnePod || j.Itself {
		return ""
	}
	return JobUIDLabel + "=" + uid
}

// Placed reports whether an admission changes objects of the kind: Kueue adds the node labels and tolerations of the flavor to
// their pod templates. It holds the pods of other kinds behind a gate, and changes the pods alone.
func (j Job) Placed() bool { return len(j.SuspendPath) > 0 || j.Itself }
