// Package pick chooses pods of a job, by default the main one, else by name, role or
// rank, and their container.
package pick

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// defaultContainer is the annotation that names a pod's default container.
// Source: Kubernetes, well-known annotations.
const defaultContainer = "kubectl.kubernetes.io/default-container"

// Selectors returns the label selectors of a job's pods. It returns none while they are
// unknown.
func Selectors(j state.Job) []string {
	var out []string
	if j.Kind.Kind == kinds.RayJob.Kind && j.Kind.Group == kinds.RayJob.Group {
		out = append(out, kinds.BatchJob.PodLabel+"="+j.Name)
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

// ranks returns the number of ranks of a job; Ray has none.
func ranks(j state.Job) (n int) {
	if j.Kind.Group == kinds.RayJob.Group {
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
	if j.Kind.Kind == kinds.RayJob.Kind {
		out = append(out, jobs.Submitter)
	}
	for _, r := range j.Roles {
		out = append(out, strings.ToLower(r.Name))
	}
	return out
}

// shown is how many names an error lists.
const shown = 12

func noPod(j state.Job, pods []Pod, name string) error {
	names := make([]string, len(pods))
	for i, p := range pods {
		names[i] = p.Name
	}
	e := errs.NotFoundf("pod %q not found in job %s of %s", name, j.Name, j.Namespace)
	list := names
	if len(list) > shown {
		list = append(slices.Clone(list[:shown]), fmt.Sprintf("and %d more", len(names)-shown))
	}
	e.WithFact("pods", strings.Join(list, ", "))
	for _, n := range errs.Near(name, names) {
		e.Suggest(suggest.Pod(n))
	}
	return e
}

func noRank(j state.Job, rank int) error {
	e := errs.NotFoundf("rank %d not found in job %s", rank, j.Name)
	switch n := ranks(j); n {
	case 0:
		return e.WithFact("ranks", "none known").Suggest(suggest.ListPods(j.Namespace, j.Name), suggest.Pod("NAME"))
	case 1:
		return e.WithFact("ranks", "0")
	default:
		return e.WithFact("ranks", fmt.Sprintf("0 to %d", n-1))
	}
}

func noRole(j state.Job, role string) error {
	names := roleNames(j)
	e := errs.NotFoundf("role %q not found in job %s", role, j.Name).WithFact("roles", strings.Join(names, ", "))
	for _, n := range errs.Near(strings.ToLower(role), names) {
		e.Suggest(suggest.Role(n))
	}
	return e
}

// Container returns the name of the container to use: the given one, else the one that
// the pod's annotation names, else the first.
func (p Pod) Container(name string) (string, error) {
	all := append(slices.Clone(p.ContainerNames), p.InitNames...)
	switch {
	case name != "" && slices.Contains(all, name):
		return name, nil
	case name != "":
		e := errs.NotFoundf("container %q not found in pod %s", name, p.Name).WithFact("containers", strings.Join(all, ", "))
		for _, n := range errs.Near(name, all) {
			e.Suggest(suggest.Container(n))
		}
		return "", e
	case slices.Contains(p.ContainerNames, p.Annotations[defaultContainer]):
		return p.Annotations[defaultContainer], nil
	case len(p.ContainerNames) > 0:
		return p.ContainerNames[0], nil
	}
	return "", errs.NotFoundf("pod %s has no containers", p.Name)
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
