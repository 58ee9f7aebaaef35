// Package pick chooses pods of a job, by default the main one, else by name, role or
// rank, and their container.
package pick

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// defaultContainer is the annotation that names a pod's default container.
// Source: Kubernetes, well-known annotations.
const defaultContainer = "kubectl.kubernetes.io/default-container"

// Selectors returns the label selectors of a job's pods. It returns none while they are
// unknown.
func Selectors(j state.Job) []string {
	var out []string
	if j.Kind.Submitter != "" {
		out = append(out, j.Kind.Submitter+"="+j.Name)
	}
	if j.PodSelector != "" {
		out = append(out, j.PodSelector)
	}
	return out
}

// Pod is a pod of a job with its role, index and rank.
type Pod struct {
	state.Pod
	kinds.PodRole
}

// Placed returns the pods with their roles, indexes and ranks, the main one first: by
// role as the job lists them, then by index, age and name.
func Placed(j state.Job, pods []state.Pod) []Pod {
	order := map[string]int{}
	for i, r := range j.Roles {
		order[r.Name] = i
	}
	out := make([]Pod, len(pods))
	for i, place := range jobs.PodRolesOf(j, pods) {
		out[i] = Pod{pods[i], place}
	}
	slices.SortStableFunc(out, func(a, b Pod) int {
		return cmp.Or(cmp.Compare(weight(a, order), weight(b, order)), cmp.Compare(last(a.Rank), last(b.Rank)), cmp.Compare(last(a.Index), last(b.Index)),
			a.CreationTimestamp.Compare(b.CreationTimestamp), natural(a.Name, b.Name))
	})
	return out
}

// weight puts the pods that lead a job before the others.
func weight(p Pod, order map[string]int) int {
	switch {
	case p.Role == jobs.Submitter:
		return -2
	case p.leads():
		return -1
	}
	i, ok := order[p.Role]
	if !ok {
		return len(order)
	}
	if p.Rank >= 0 {
		return 0 // ranks go through the roles
	}
	return i
}

// leads reports whether a pod is the main one of its job.
func (p Pod) leads() bool {
	switch strings.ToLower(p.Role) {
	case "launcher", "head", "master", "chief", jobs.Submitter:
		return p.Index <= 0
	}
	return false
}

// last puts what has no number behind what has one.
func last(n int) int {
	if n < 0 {
		return 1 << 30
	}
	return n
}

// natural compares names so that worker-2 comes before worker-10.
func natural(a, b string) int {
	if i, j := strings.LastIndexByte(a, '-'), strings.LastIndexByte(b, '-'); i > 0 && j > 0 && a[:i] == b[:j] {
		x, errX := strconv.Atoi(a[i+1:])
		y, errY := strconv.Atoi(b[j+1:])
		if errX == nil && errY == nil {
			return cmp.Compare(x, y)
		}
	}
	return strings.Compare(a, b)
}

// Choice says which pods to choose. The zero value chooses the main pod.
type Choice struct {
	Pod  string // by name
	All  bool
	Role string // those of a role, whatever the case
	Rank *int   // the one of a rank
}

// Default reports whether no pod was chosen explicitly.
func (c Choice) Default() bool { return c == Choice{} }

// Several reports whether the choice can mean more than one pod at a time.
func (c Choice) Several() bool { return c.All || c.Role != "" }

// Choose returns the chosen ones of the pods that Placed returned. It returns none and no
// error while they do not exist yet, and an error (exit code 5) if they cannot exist.
func Choose(j state.Job, pods []Pod, c Choice) ([]Pod, error) {
	switch {
	case c.All:
		return pods, nil
	case c.Pod != "":
		found := filter(pods, func(p Pod) bool { return p.Name == c.Pod })
		if len(found) == 0 && len(pods) > 0 {
			return nil, noPod(j, pods, c.Pod)
		}
		return found, nil
	case c.Rank != nil:
		found := filter(pods, func(p Pod) bool { return p.Rank == *c.Rank })
		if len(found) == 0 && *c.Rank >= ranks(j) {
			return nil, noRank(j, *c.Rank)
		}
		return found, nil
	case c.Role != "":
		found := filter(pods, func(p Pod) bool { return strings.EqualFold(p.Role, c.Role) })
		if len(found) == 0 && !hasRole(j, c.Role) {
			return nil, noRole(j, c.Role)
		}
		return found, nil
	}
	return Leader(pods), nil
}

func filter(pods []Pod, keep func(Pod) bool) []Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p Pod) bool { return !keep(p) })
}

// Leader returns the main pod of the job: the first, or the newest of several pods with
// the same role and index.
func Leader(pods []Pod) []Pod {
	if len(pods) == 0 {
		return nil
	}
	best := pods[0]
	for _, p := range pods[1:] {
		same := p.PodRole == best.PodRole && p.Index >= 0
		if same && (best.DeletionTimestamp != nil || p.CreationTimestamp.After(best.CreationTimestamp)) {
			best = p
		}
	}
	return []Pod{best}
}

// ranks returns the number of ranks of a job, 0 for kinds without ranks and for those whose pods do not show them.
func ranks(j state.Job) (n int) {
	if by := j.Kind.Numbers; by.Unranked || by.Index == "" && by.Place == nil {
		return 0
	}
	for _, r := range j.Roles {
		if !strings.EqualFold(r.Name, "launcher") && r.Name != "head" {
			n += int(r.Replicas)
		}
	}
	return n
}

func hasRole(j state.Job, role string) bool {
	return slices.ContainsFunc(roleNames(j), func(n string) bool { return strings.EqualFold(n, role) })
}

func roleNames(j state.Job) []string {
	var out []string
	if j.Kind.Submitter != "" {
		out = append(out, jobs.Submitter)
	}
	for _, r := range j.Roles {
		out = append(out, strings.ToLower(r.Name))
	}
	return out
}

// Noun is what a NotFoundError is about.
type Noun string

// The nouns.
const (
	OfPod        Noun = "pod"
	OfRank       Noun = "rank"
	OfRole       Noun = "role"
	OfContainer  Noun = "container"
	OfContainers Noun = "containers" // the pod has none
)

// NotFoundError is a pod, rank, role or container that a job does not have. Package
// present/jobtext words it.
type NotFoundError struct {
	What Noun
	Name string
	Job  state.Job
	// Pod is the pod without such a container.
	Pod string
	// Names are those that exist; Ranks is how many ranks there are, 0 when that is
	// unknown.
	Names []string
	Ranks int
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("%s %q not found", e.What, e.Name) }

func noPod(j state.Job, pods []Pod, name string) error {
	names := make([]string, len(pods))
	for i, p := range pods {
		names[i] = p.Name
	}
	return &NotFoundError{What: OfPod, Name: name, Job: j, Names: names}
}

func noRank(j state.Job, rank int) error {
	return &NotFoundError{What: OfRank, Name: strconv.Itoa(rank), Job: j, Ranks: ranks(j)}
}

func noRole(j state.Job, role string) error {
	return &NotFoundError{What: OfRole, Name: role, Job: j, Names: roleNames(j)}
}

// Container returns the name of the container to use: the given one, else the one that
// the pod's annotation names, else the first.
func (p Pod) Container(name string) (string, error) {
	all := append(slices.Clone(p.ContainerNames), p.InitNames...)
	switch {
	case name != "" && slices.Contains(all, name):
		return name, nil
	case name != "":
		return "", &NotFoundError{What: OfContainer, Name: name, Pod: p.Name, Names: all}
	case slices.Contains(p.ContainerNames, p.Annotations[defaultContainer]):
		return p.Annotations[defaultContainer], nil
	case len(p.ContainerNames) > 0:
		return p.ContainerNames[0], nil
	}
	return "", &NotFoundError{What: OfContainers, Pod: p.Name}
}

// Failure returns when (nanoseconds, 0 when unknown) and why a pod failed; ok is false
// when it did not.
func (p Pod) Failure() (at int64, trouble jobs.PodTrouble, ok bool) {
	for _, c := range p.Containers {
		code, reason := c.ExitCode, c.Terminated
		if reason == "" && c.Waiting == "CrashLoopBackOff" {
			code, reason = c.LastExitCode, c.LastTerminated
		}
		if reason != "" && code != 0 {
			if c.FinishedAt != nil {
				at = c.FinishedAt.UnixNano()
			}
			return at, jobs.PodTrouble{Reason: reason, Container: c.Name, Ended: reason, ExitCode: code}, true
		}
	}
	if p.Phase == "Failed" {
		return 0, jobs.PodTrouble{Reason: p.Reason, Message: p.Message}, true
	}
	return 0, jobs.PodTrouble{}, false
}

// FirstFailed returns the pod that failed first. The others most often failed because of
// it.
func FirstFailed(pods []Pod) (Pod, bool) {
	var best Pod
	var since int64
	found := false
	for _, p := range pods {
		if at, _, ok := p.Failure(); ok && (!found || at < since) {
			best, since, found = p, at, true
		}
	}
	return best, found
}
