package kinds

import (
	"fmt"
	"strconv"
)

// JobSet is a set of groups of batch Jobs (v1alpha2).
var JobSet = Job{
	Resource:    Resource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Plural: "jobsets", Kind: "JobSet", Namespaced: true},
	PodLabel:    "jobset.sigs.k8s.io/jobset-name",
	SuspendPath: path("spec.suspend"),
	Roles: []Role{{Path: path("spec.replicatedJobs.*"), NameKey: "name", Replicas: path("replicas"),
		Times: path("template.spec.parallelism"), AtMost: path("template.spec.completions"), Template: path("template.spec.template")}},
	Operator: "JobSet controller",
	Columns: func() []Column {
		return []Column{{Name: "TerminalState", At: path("status.terminalState")}, {Name: "Restarts", At: path("status.restarts")}, {Name: "Completed", Condition: "Completed"}, {Name: "Suspended", At: path("spec.suspend")}}
	},
	Style: JobGroups,
	Numbers: Numbers{Place: func(labels map[string]string, roles map[string]int64) (string, int) {
		name := labels[replicatedJobLabel]
		return name, jobSetIndex(labels, roles[name])
	}},
	Policy:   Policy{At: path("spec"), TTL: "ttlSecondsAfterFinished"},
	PodMaker: jobOfJobSet,
	Made: func(p Planned) (string, map[string]string) {
		pods := JobSetPods(p.Object, p.Part.Name)
		job, inner := strconv.FormatInt(p.Index/pods, 10), strconv.FormatInt(p.Index%pods, 10)
		return fmt.Sprintf("%s-%s-%s-%s-", p.Name, p.Part.Name, job, inner), map[string]string{replicatedJobLabel: p.Part.Name,
			jobIndexLabel: job, completionIndexLabel: inner, "jobset.sigs.k8s.io/restart-attempt": "0"}
	},
}

// JobSetPods returns the number of pods of each job of a JobSet's replicated job.
func JobSetPods(object map[string]any, name string) int64 {
	jobs, _ := At(object, "spec", "replicatedJobs").([]any)
	for _, r := range jobs {
		if m, ok := r.(map[string]any); ok && m["name"] == name {
			if n, ok := number(m, path("template.spec.parallelism")); ok {
				return max(1, n)
			}
		}
	}
	return 1
}

// JobSetJobs returns the number of jobs of a JobSet's replicated job.
func JobSetJobs(object map[string]any, name string) int64 {
	jobs, _ := At(object, "spec", "replicatedJobs").([]any)
	for _, r := range jobs {
		if m, ok := r.(map[string]any); ok && m["name"] == name {
			if n, ok := Int(m, "replicas"); ok {
				return n
			}
		}
	}
	return 1
}

const (
	replicatedJobLabel = "jobset.sigs.k8s.io/replicatedjob-name"
	jobIndexLabel      = "jobset.sigs.k8s.io/job-index"
	jobCountLabel      = "jobset.sigs.k8s.io/replicatedjob-replicas"
)

// jobSetIndex numbers the pods of a group of jobs: those of the first job, of the
// second, and so on. pods is how many the whole group has.
func jobSetIndex(labels map[string]string, pods int64) int {
	jobs, at, inner := index(labels[jobCountLabel]), index(labels[jobIndexLabel]), index(labels[completionIndexLabel])
	switch {
	case at < 0 || inner < 0:
		return -1
	case jobs > 0:
		return at*int(pods)/jobs + inner
	case at == 0:
		return inner
	}
	return -1
}
