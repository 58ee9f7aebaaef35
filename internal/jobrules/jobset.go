package jobrules

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// jobSet is the webhook of JobSets (pkg/webhooks/jobset_webhook.go, v0.12), with its feature gates as they are by default.
func jobSet(c *checker) {
	jobs := list(c.spec["replicatedJobs"])
	if len(jobs) > 0 && has(jobs[0], "dependsOn") {
		c.Forbidden(spec("replicatedJobs", 0, "dependsOn"), "the first replicated job cannot depend on another one")
	}
	if subdomain, ok := c.text(faults.Inner(c.spec, "network"), "subdomain"); ok {
		c.Invalid(spec("network", "subdomain"), subdomain, first(validation.IsDNS1123Subdomain(subdomain), validation.IsDNS1035Label(subdomain))...)
	}
	c.manager(spec("managedBy"), c.spec["managedBy"], 63)
	names := map[string]bool{}
	known := true // all names are
	faults.Each(c.spec["replicatedJobs"], func(i int, job map[string]any) {
		name, ok := c.text(job, "name")
		known = known && ok
		names[name] = true
		c.replicatedJob(spec("replicatedJobs", i), job)
		faults.Each(job["dependsOn"], func(k int, on map[string]any) {
			if other, ok := c.text(on, "name"); ok && known && !names[other] {
				c.Invalid(spec("replicatedJobs", i, "dependsOn", k, "name"), other, "no earlier replicated job has this name")
			}
		})
	})
	targets := func(p at, m map[string]any) {
		for i, v := range list(m["targetReplicatedJobs"]) {
			if name, _ := v.(string); known && !c.Open(name) && !names[name] {
				c.Invalid(p.To("targetReplicatedJobs", i), name, "no replicated job has this name")
			}
		}
	}
	targets(spec("successPolicy"), faults.Inner(c.spec, "successPolicy"))
	c.jobSetFailures(targets)
	if faults.Inner(c.spec, "coordinator") != nil {
		c.coordinator()
	}
	c.claims()
}

// first returns the messages of the first check that has some.
func first(checks ...[]string) []string {
	for _, c := range checks {
		if len(c) > 0 {
			return c
		}
	}
	return nil
}

// manager checks the name of a controller.
func (c *checker) manager(p at, v any, limit int) {
	name, isText := v.(string)
	switch {
	case !isText || c.Open(name):
	case len(validation.IsDomainPrefixedPath(nil, name)) > 0:
		c.Invalid(p, name, "must be a domain name and a path, such as example.com/controller")
	case len(name) > limit:
		c.Invalid(p, name, fmt.Sprintf("must have at most %d characters", limit))
	}
}

// replicatedJob checks the names of the jobs and pods that a replicated job makes, and their number.
func (c *checker) replicatedJob(p at, job map[string]any) {
	template := faults.Inner(job, "template", "spec")
	replicas, knowsReplicas := numberOr(job["replicas"], 1)
	parallelism, knowsParallelism := numberOr(template["parallelism"], 1)
	if knowsReplicas && knowsParallelism && replicas > 0 && parallelism > math.MaxInt32/replicas {
		c.Invalid(p.To("replicas"), replicas, fmt.Sprintf("the product of replicas and parallelism must not exceed %d", math.MaxInt32))
	}
	if group, ok := c.text(job, "groupName"); ok {
		c.Invalid(p.To("groupName"), group, validation.IsDNS1035Label(group)...)
	}
	set, knowsSet := c.name()
	name, knowsName := c.text(job, "name")
	if !knowsSet || !knowsName || !knowsReplicas {
		return
	}
	longest := fmt.Sprintf("%s-%s-%d", set, name, replicas-1)
	if why := validation.IsDNS1035Label(longest); len(why) > 0 {
		switch {
		case len(validation.IsDNS1035Label(set)) > 0:
			c.Invalid(at{"metadata", "name"}, set, first(validation.IsDNS1035Label(set))...)
		case len(longest) > validation.DNS1035LabelMaxLength:
			c.Invalid(p.To("name"), name, fmt.Sprintf("the name of the job %s has more than 63 characters", longest))
		default:
			c.Invalid(p.To("name"), name, why...)
		}
		return
	}
	mode, _ := template["completionMode"].(string)
	completions, given := faults.Number(template["completions"])
	if mode != "" && mode != "Indexed" || !given {
		return
	}
	pod := fmt.Sprintf("%s-%d-abcde", longest, completions-1)
	if len(pod) > validation.DNS1035LabelMaxLength {
		c.Invalid(p.To("name"), name, fmt.Sprintf("the names of pods, such as %s, have more than 63 characters", pod))
	}
}

var ruleName = pattern.Lazy(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// jobSetFailures checks the rules for failed jobs.
func (c *checker) jobSetFailures(targets func(at, map[string]any)) {
	policy := faults.Inner(c.spec, "failurePolicy")
	if policy["restartStrategy"] == "InPlaceRestart" {
		c.Forbidden(spec("failurePolicy", "restartStrategy"), "InPlaceRestart requires the feature gate InPlaceRestart of the JobSet controller")
	}
	reasons := []string{"BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"}
	seen := map[string]bool{}
	faults.Each(policy["rules"], func(i int, rule map[string]any) {
		p := spec("failurePolicy", "rules", i)
		if action, _ := rule["action"].(string); action == "RestartJob" || action == "RestartJobAndIgnoreMaxRestarts" {
			c.Forbidden(p.To("action"), action+" requires the feature gate RestartJob of the JobSet controller")
		}
		name, known := c.text(rule, "name")
		if rule["name"] == nil || rule["name"] == "" { // the webhook names it
			name, known = fmt.Sprintf("failurePolicyRule%d", i), true
		}
		switch {
		case !known:
		case len(name) > 128:
			c.Invalid(p.To("name"), name, "must have at most 128 characters")
		case !ruleName().MatchString(name):
			c.Invalid(p.To("name"), name, "must start with a letter, have only letters, digits, _, comma and colon, and end with a letter, a digit or _")
		case seen[name]:
			c.Add(p.To("name"), field.ErrorTypeDuplicate, name, "")
		}
		if known {
			seen[name] = true
		}
		targets(p, rule)
		for k, v := range list(rule["onJobFailureReasons"]) {
			if reason, ok := v.(string); ok && !c.Open(reason) && !slices.Contains(reasons, reason) {
				c.Add(p.To("onJobFailureReasons", k), field.ErrorTypeNotSupported, reason, "", reasons...)
			}
		}
	})
}

// coordinator checks that the pod that coordinates the others exists.
func (c *checker) coordinator() {
	m, p := faults.Inner(c.spec, "coordinator"), spec("coordinator")
	name, ok := c.text(m, "replicatedJob")
	if !ok {
		return
	}
	jobs := list(c.spec["replicatedJobs"])
	i := slices.IndexFunc(jobs, func(v any) bool { return kinds.Text(v, "name") == name })
	if i < 0 {
		if !slices.ContainsFunc(jobs, func(v any) bool { return c.Open(kinds.Text(v, "name")) }) {
			c.Invalid(p.To("replicatedJob"), name, "no replicated job has this name")
		}
		return
	}
	job := jobs[i].(map[string]any)
	template := faults.Inner(job, "template", "spec")
	mode, _ := template["completionMode"].(string)
	replicas, known := numberOr(job["replicas"], 1)
	jobIndex, knowsJob := numberOr(m["jobIndex"], 0)
	podIndex, knowsPod := numberOr(m["podIndex"], 0)
	completions, given := faults.Number(template["completions"])
	switch {
	case known && knowsJob && (jobIndex < 0 || jobIndex >= replicas):
		c.Invalid(p.To("jobIndex"), jobIndex, fmt.Sprintf("the replicated job %s has %d jobs", name, replicas))
	case template["completions"] == nil || mode != "" && mode != "Indexed" && !c.Open(mode):
		c.Invalid(p.To("replicatedJob"), name, "the job of the coordinator must have completions and completion mode Indexed")
	case given && knowsPod && (podIndex < 0 || podIndex >= completions):
		c.Invalid(p.To("podIndex"), podIndex, fmt.Sprintf("a job of the replicated job %s has %d pods", name, completions))
	}
	set, ok := c.name()
	subdomain, _ := faults.Inner(c.spec, "network")["subdomain"].(string)
	if subdomain == "" {
		subdomain = set
	}
	if label := fmt.Sprintf("%s-%s-%d-%d.%s", set, name, jobIndex, podIndex, subdomain); ok && !c.Open(subdomain) && len(label) > validation.LabelValueMaxLength {
		c.Invalid(p, nil, fmt.Sprintf("the address of the coordinator, %s, has more than 63 characters and cannot be a label", label))
	}
}

// claims checks the templates of volume claims.
func (c *checker) claims() {
	set, knowsSet := c.name()
	seen := map[string]bool{}
	faults.Each(c.spec["volumeClaimPolicies"], func(i int, policy map[string]any) {
		faults.Each(policy["templates"], func(k int, template map[string]any) {
			p := spec("volumeClaimPolicies", i, "templates", k, "metadata", "name")
			name, _ := faults.Inner(template, "metadata")["name"].(string)
			switch why := validation.IsDNS1123Subdomain(name); {
			case c.Open(name):
				return
			case seen[name]:
				c.Add(p, field.ErrorTypeDuplicate, name, "")
			case len(why) > 0:
				c.Invalid(p, name, why...)
			case knowsSet && len(name)+len("-")+len(set) > 63:
				c.Invalid(p, name, "the name of the claim, "+name+"-"+set+", has more than 63 characters")
			}
			seen[name] = true
			c.claimMounted(p, name)
		})
	})
}

// claimMounted checks that a container mounts a claim, and that no volume of pods has its name.
func (c *checker) claimMounted(p at, name string) {
	mounted := false
	faults.Each(c.spec["replicatedJobs"], func(i int, job map[string]any) {
		pod := faults.Inner(job, "template", "spec", "template", "spec")
		faults.Each(pod["volumes"], func(k int, volume map[string]any) {
			if volume["name"] == name {
				c.Invalid(spec("replicatedJobs", i, "template", "spec", "template", "spec", "volumes", k, "name"), name, "a volume claim policy has a template of this name")
			}
		})
		for _, containers := range []string{"initContainers", "containers"} {
			faults.Each(pod[containers], func(_ int, container map[string]any) {
				faults.Each(container["volumeMounts"], func(_ int, mount map[string]any) {
					text, _ := mount["name"].(string)
					mounted = mounted || text == name || c.Open(text)
				})
			})
		}
	})
	if !mounted {
		c.Invalid(p, name, "no container of a replicated job mounts this claim")
	}
}
