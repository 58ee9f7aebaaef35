package worlds

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// administrator is the user who may do everything.
const administrator = ""

var (
	teams      = []string{"data-platform", "inference", "interns", "ml-engineers", "researchers"}
	priorities = []string{"training", "experiment", "fine-tuning", "inference"}
	types      = []string{"ml.p5.48xlarge", "ml.p4d.24xlarge"}
)

// step is a command of a user, or a change that an administrator makes with kubectl.
type step struct {
	user string
	args []string
	// namespace and jobs are what the command is about. A pod group has a job for each pod.
	namespace string
	jobs      []string
	// forbidden: the user has no permission for it.
	forbidden bool
	// lacks is a permission that the user lacks, and that the command needs where something must change; "" for none.
	lacks string
	// kubectl is a change; of a quota, queue, resource and quota are what it changes.
	kubectl  []string
	queue    string
	resource int
	quota    int
}

// String is the step as a line of a script.
func (s step) String() string {
	words, who := append([]string{"hyperpod"}, s.args...), s.user
	if s.kubectl != nil {
		words, who = append([]string{"kubectl"}, s.kubectl...), administrator
	}
	for i, w := range words {
		if strings.ContainsAny(w, " {}[]\"") {
			words[i] = "'" + w + "'"
		}
	}
	if who == administrator {
		return strings.Join(words, " ")
	}
	return "USER=" + who + " " + strings.Join(words, " ")
}

// verb is the command without its arguments: start-job, patch-job suspend, ...
func (s step) verb() string {
	switch {
	case len(s.args) == 0:
		return ""
	case s.args[0] == "patch-job":
		return s.args[0] + " " + s.args[1]
	}
	return s.args[0]
}

// keys are the jobs as namespace/name.
func (s step) keys() []string {
	var out []string
	for _, j := range s.jobs {
		out = append(out, s.namespace+"/"+j)
	}
	return out
}

// unit is the job of Kueue as namespace/name: a pod group is one.
func (s step) unit() string {
	if len(s.jobs) > 1 {
		return s.namespace + "/" + strings.TrimSuffix(s.jobs[0], "-0")
	}
	return s.keys()[0]
}

// about makes the step a command about a job; command is its words before the name. cancel-job takes all pods of a pod group,
// patch-job one, and refuses it.
func (s *step) about(job, command string, flags ...string) {
	s.jobs = podsOf(job)
	if !strings.HasPrefix(command, "cancel") {
		s.jobs = s.jobs[:1]
	}
	s.args = append(strings.Fields(command), s.jobs...)
	s.args = append(append(s.args, "-n", s.namespace), flags...)
}

// start makes the step one that starts a job.
func (s *step) start(job string, flags []string) {
	s.jobs = podsOf(job)
	s.args = append([]string{"start-job", "--name", job, "-n", s.namespace}, flags...)
	if isGroup(job) {
		s.args = append([]string{"start-job", "--set", "JOB_NAME=" + job, "-n", s.namespace}, flags...)
	}
}

// isGroup reports that a name is that of a pod group: they begin with g.
func isGroup(job string) bool { return strings.HasPrefix(job, "g") }

// podsOf are the jobs of a name: the pods of a pod group, or the name.
func podsOf(job string) []string {
	if isGroup(job) {
		return []string{job + "-0", job + "-1"}
	}
	return []string{job}
}

// changeQuota makes the step a change of a team's quota.
func (s *step) changeQuota(r *rand.Rand, team string) {
	*s = step{queue: "hyperpod-ns-" + team + "-clusterqueue", resource: r.IntN(3), quota: 8 * r.IntN(5)}
	s.kubectl = []string{"patch", "clusterqueue", s.queue, "--type", "json", "-p", s.patch()}
}

func (s step) patch() string {
	return fmt.Sprintf(`[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/%d/nominalQuota","value":"%d"}]`, s.resource, s.quota)
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// pytorch are the flags of a PyTorchJob.
func pytorch(r *rand.Rand) []string {
	return []string{"--template", "pytorch", "--image", "a", "--command", "b", "--instance-type", pick(r, types),
		"--node-count", fmt.Sprint(1 + r.IntN(3)), "--accelerators", pick(r, []string{"1", "4", "8"})}
}
