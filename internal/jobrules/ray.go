package jobrules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
)

// The validation of the KubeRay operator (controllers/ray/utils/validation.go, v1.6) with its feature gates as they are by default.
// It reports an invalid object in an event and does not run it.

const (
	rayClusterName = 53 // the longest name of a RayCluster
	rayNamePrefix  = 6  // what the names of the clusters of RayJobs and RayServices have more

	rayFaultTolerance   = "ray.io/ft-enabled"
	rayExternalStorage  = "ray.io/external-storage-namespace"
	rayInitTimeout      = "ray.io/initializing-timeout"
	rayAutoscalerV2     = "RAY_enable_autoscaler_v2"
	rayClusterOfJob     = "ray.io/cluster"
	rayRedisAddress     = "RAY_REDIS_ADDRESS"
	rayMinimumForTokens = "2.52.0"
)

// rayStorage is what the definitions of KubeRay v1.6 ask for: an address where Ray keeps its state. Later ones have another backend, too.
func rayStorage(keys ...string) func(*checker) {
	return func(c *checker) {
		options := faults.Inner(c.spec, append(slices.Clone(keys), "gcsFaultToleranceOptions")...)
		if options == nil || options["redisAddress"] != nil || options["backend"] != nil {
			return
		}
		p := spec()
		for _, k := range keys {
			p = p.To(k)
		}
		c.Required(p.To("gcsFaultToleranceOptions", "redisAddress"), "")
	}
}

func rayCluster(c *checker) {
	c.named(rayClusterName)
	c.cluster(spec(), c.spec)
}

func rayService(c *checker) {
	c.named(rayClusterName - rayNamePrefix)
	if text, ok := c.text(faults.Inner(c.object, "metadata", "annotations"), rayInitTimeout); ok {
		d, err := time.ParseDuration(text)
		if n, whole := strconv.Atoi(text); whole == nil {
			d, err = time.Duration(n)*time.Second, nil
		}
		if err != nil || d <= 0 {
			c.Invalid(at{"metadata", "annotations", rayInitTimeout}, text, "must be a positive duration, such as 5m, or a positive number of seconds")
		}
	}
	p, cluster := spec("rayClusterConfig"), faults.Inner(c.spec, "rayClusterConfig")
	if isTrue(faults.Inner(cluster, "authOptions")["enableK8sTokenAuth"]) {
		c.Forbidden(p.To("authOptions", "enableK8sTokenAuth"), "a RayService does not support tokens of Kubernetes")
	}
	c.cluster(p, cluster)
	if name, ok := c.text(faults.Inner(cluster, "headGroupSpec", "headService", "metadata"), "name"); ok {
		c.Invalid(p.To("headGroupSpec", "headService", "metadata", "name"), name, "must not be set in a RayService")
	}
	strategy := faults.Inner(c.spec, "upgradeStrategy")
	c.OneOf(spec("upgradeStrategy"), strategy, "type", "None", "NewCluster", "NewClusterWithIncrementalUpgrade")
}

func rayJob(c *checker) {
	c.named(rayClusterName - rayNamePrefix)
	cluster, selector := faults.Inner(c.spec, "rayClusterSpec"), faults.Inner(c.spec, "clusterSelector")
	shuts := c.spec["shutdownAfterJobFinishes"]
	c.notNegative(spec(), c.spec, "ttlSecondsAfterFinished", "backoffLimit")
	c.positive(spec(), c.spec, "activeDeadlineSeconds", "preRunningDeadlineSeconds")
	if isTrue(c.spec["suspend"]) && (shuts == nil || shuts == false) {
		c.Invalid(spec("suspend"), true, "a RayJob that can be suspended must have shutdownAfterJobFinishes: true")
	}
	if ttl, ok := faults.Number(c.spec["ttlSecondsAfterFinished"]); ok && ttl > 0 && (shuts == nil || shuts == false) {
		c.Invalid(spec("ttlSecondsAfterFinished"), ttl, "requires shutdownAfterJobFinishes: true")
	}
	c.deletions(cluster, selector)
	retries, _ := faults.Number(c.spec["backoffLimit"])
	if len(selector) > 0 {
		c.selected(selector, retries)
	} else if c.spec["rayClusterSpec"] == nil {
		c.Required(spec("rayClusterSpec"), "a RayJob has a rayClusterSpec or a clusterSelector")
	}
	switch c.spec["submissionMode"] {
	case "InteractiveMode":
		if retries > 0 {
			c.Invalid(spec("backoffLimit"), retries, "must be 0 with submission mode InteractiveMode")
		}
	case "SidecarMode":
		for _, key := range []string{"submitterPodTemplate", "submitterConfig"} {
			if c.spec[key] != nil {
				c.Forbidden(spec(key), "submission mode SidecarMode has no submitter")
			}
		}
		c.neverRestarts(spec("rayClusterSpec", "headGroupSpec"), faults.Inner(cluster, "headGroupSpec"), "with submission mode SidecarMode")
	}
	if text, ok := c.text(c.spec, "runtimeEnvYAML"); ok && !strings.Contains(text, "${") {
		var m map[string]any
		if yaml.Unmarshal([]byte(text), &m) != nil {
			c.Invalid(spec("runtimeEnvYAML"), nil, "must be a map in YAML")
		}
	}
	if cluster == nil {
		return
	}
	if isTrue(faults.Inner(cluster, "authOptions")["enableK8sTokenAuth"]) {
		c.Forbidden(spec("rayClusterSpec", "authOptions", "enableK8sTokenAuth"), "a RayJob does not support tokens of Kubernetes")
	}
	c.cluster(spec("rayClusterSpec"), cluster)
}

// selected checks a RayJob that runs on a cluster which exists.
func (c *checker) selected(selector map[string]any, retries int64) {
	if isTrue(c.spec["suspend"]) {
		c.Invalid(spec("suspend"), true, "a RayJob with a clusterSelector cannot be suspended")
	}
	if selector[rayClusterOfJob] == nil || selector[rayClusterOfJob] == "" {
		c.Required(spec("clusterSelector", rayClusterOfJob), "it names the RayCluster")
	}
	if c.spec["submissionMode"] == "SidecarMode" {
		c.Invalid(spec("submissionMode"), "SidecarMode", "cannot be used with a clusterSelector")
	}
	if retries > 0 {
		c.Invalid(spec("backoffLimit"), retries, "must be 0 with a clusterSelector")
	}
}

// deletions checks what is deleted when a RayJob has finished.
func (c *checker) deletions(cluster, selector map[string]any) {
	strategy, p := faults.Inner(c.spec, "deletionStrategy"), spec("deletionStrategy")
	rules := list(strategy["deletionRules"])
	allowed := func(p at, m map[string]any) {
		policy, _ := m["policy"].(string)
		switch {
		case len(selector) > 0 && (policy == "DeleteCluster" || policy == "DeleteWorkers"):
			c.Invalid(p.To("policy"), policy, "cannot be used with a clusterSelector")
		case policy == "DeleteWorkers" && isTrue(cluster["enableInTreeAutoscaling"]):
			c.Invalid(p.To("policy"), policy, "cannot be used with autoscaling")
		}
	}
	for _, key := range []string{"onSuccess", "onFailure"} {
		one := faults.Inner(strategy, key)
		if one == nil {
			continue
		}
		if one["policy"] == nil {
			c.Required(p.To(key, "policy"), "")
		}
		if one["policy"] == "DeleteNone" && isTrue(c.spec["shutdownAfterJobFinishes"]) {
			c.Invalid(p.To(key, "policy"), "DeleteNone", "cannot be used with shutdownAfterJobFinishes: true")
		}
		allowed(p.To(key), one)
	}
	if len(rules) > 0 && isTrue(c.spec["shutdownAfterJobFinishes"]) {
		c.Forbidden(p.To("deletionRules"), "cannot be used with shutdownAfterJobFinishes: true")
	}
	type condition struct{ status, policy string }
	times := map[condition]int64{}
	faults.Each(strategy["deletionRules"], func(i int, rule map[string]any) {
		p, when := p.To("deletionRules", i), faults.Inner(rule, "condition")
		allowed(p, rule)
		status, known := c.text(when, "jobStatus")
		if !known {
			status, known = c.text(when, "jobDeploymentStatus")
			status = "deployment " + status
		}
		policy, _ := c.text(rule, "policy")
		key := condition{status, policy}
		ttl, ok := numberOr(when["ttlSeconds"], 0)
		if _, twice := times[key]; twice && known {
			c.Add(p.To("policy"), field.ErrorTypeDuplicate, policy, "")
			return
		}
		if known && ok {
			times[key] = ttl
		}
	})
	inOrder := func(a, b condition) int {
		return cmp.Or(cmp.Compare(a.status, b.status), cmp.Compare(a.policy, b.policy))
	}
	for _, key := range slices.SortedFunc(maps.Keys(times), inOrder) { // what is deleted first is part of what is deleted next
		ttl := times[key]
		for _, later := range [][2]string{{"DeleteWorkers", "DeleteCluster"}, {"DeleteCluster", "DeleteSelf"}, {"DeleteWorkers", "DeleteSelf"}} {
			if after, ok := times[condition{key.status, later[1]}]; ok && key.policy == later[0] && after < ttl {
				c.Invalid(p.To("deletionRules"), nil, fmt.Sprintf("%s after %d seconds comes before %s after %d seconds", later[1], after, later[0], ttl))
				return
			}
		}
	}
}

// neverRestarts checks that the pods of a group do not restart.
func (c *checker) neverRestarts(p at, group map[string]any, why string) {
	pod := faults.Inner(group, "template", "spec")
	if policy, ok := c.text(pod, "restartPolicy"); ok && policy != "Never" {
		c.Invalid(p.To("template", "spec", "restartPolicy"), policy, "must be Never "+why)
	}
}

// cluster checks the description of a Ray cluster.
func (c *checker) cluster(p at, m map[string]any) {
	if m == nil {
		return
	}
	head, options := faults.Inner(m, "headGroupSpec"), faults.Inner(m, "autoscalerOptions")
	scales := isTrue(m["enableInTreeAutoscaling"])
	second := options["version"] == "v2"
	env := c.environment(head)
	c.group(p.To("headGroupSpec"), "head", head)
	names := map[string]bool{}
	faults.Each(m["workerGroupSpecs"], func(i int, group map[string]any) {
		at := p.To("workerGroupSpecs", i)
		name, known := c.text(group, "groupName")
		if known && names[name] {
			c.Add(at.To("groupName"), field.ErrorTypeDuplicate, name, "")
		}
		names[name] = true
		c.group(at, name, group)
		c.sizes(at, group)
		if scales && isTrue(group["suspend"]) {
			c.Invalid(at.To("suspend"), true, "a group cannot be suspended with autoscaling")
		}
		c.notNegative(at, group, "idleTimeoutSeconds")
		if group["idleTimeoutSeconds"] != nil && !second && !slices.Contains([]string{"1", "true"}, env[rayAutoscalerV2]) {
			if version, _ := options["version"].(string); !c.Open(version) {
				c.Forbidden(at.To("idleTimeoutSeconds"), "requires autoscalerOptions.version: v2")
			}
		}
		if scales && second {
			c.neverRestarts(at, group, "with version 2 of the autoscaler")
		}
	})
	c.notNegative(p.To("autoscalerOptions"), options, "idleTimeoutSeconds")
	if value, given := env[rayAutoscalerV2]; given {
		at := p.To("headGroupSpec", "template", "spec", "containers", 0, "env")
		switch {
		case m["enableInTreeAutoscaling"] == nil || m["enableInTreeAutoscaling"] == false:
			if value == "1" || value == "true" {
				c.Invalid(at, nil, rayAutoscalerV2+" requires enableInTreeAutoscaling: true")
			}
		case scales && options["version"] != nil:
			c.Invalid(at, nil, rayAutoscalerV2+" cannot be used with autoscalerOptions.version")
		}
	}
	if scales && second {
		c.neverRestarts(p.To("headGroupSpec"), head, "with version 2 of the autoscaler")
	}
	c.tolerance(p, m, env)
	c.tokens(p, m)
}

// environment returns the variables of the first container of a group.
func (c *checker) environment(group map[string]any) map[string]string {
	out := map[string]string{}
	containers := list(faults.Inner(group, "template", "spec")["containers"])
	if len(containers) == 0 {
		return out
	}
	ray, _ := containers[0].(map[string]any)
	faults.Each(ray["env"], func(_ int, v map[string]any) {
		if name, ok := c.text(v, "name"); ok {
			out[name], _ = v["value"].(string)
		}
	})
	return out
}

// group checks the parameters, resources and labels of a group.
func (c *checker) group(p at, name string, group map[string]any) {
	start, resources := faults.Inner(group, "rayStartParams"), faults.Inner(group, "resources")
	for _, key := range []string{"num-cpus", "num-gpus", "memory", "resources"} {
		if v := start[key]; v != nil && v != "" && len(resources) > 0 {
			c.Forbidden(p.To("resources"), "rayStartParams has "+key+"; use one of the two")
			break
		}
	}
	if _, given := start["labels"]; given {
		c.Forbidden(p.To("rayStartParams", "labels"), "use the labels of the group")
	}
	labels := faults.Inner(group, "labels")
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		value, _ := labels[key].(string)
		if c.Open(key) || c.Open(value) {
			continue
		}
		c.Invalid(p.To("labels", key), key, validation.IsQualifiedName(key)...)
		c.Invalid(p.To("labels", key), value, validation.IsValidLabelValue(value)...)
	}
}

// sizes checks the numbers of pods of a group of workers.
func (c *checker) sizes(p at, group map[string]any) {
	c.notNegative(p, group, "minReplicas", "maxReplicas")
	least, knowsLeast := numberOr(group["minReplicas"], 0)
	most, knowsMost := numberOr(group["maxReplicas"], 1<<31-1)
	if knowsLeast && knowsMost && least > most && most >= 0 {
		c.Invalid(p.To("minReplicas"), least, fmt.Sprintf("must not be greater than maxReplicas, which is %d", most))
	}
}

// tolerance checks the options that let the global control service of Ray survive a failure.
func (c *checker) tolerance(p at, m map[string]any, env map[string]string) {
	head, options, annotations := faults.Inner(m, "headGroupSpec"), faults.Inner(m, "gcsFaultToleranceOptions"), faults.Inner(c.object, "metadata", "annotations")
	start := faults.Inner(head, "rayStartParams")
	variables, parameters := p.To("headGroupSpec", "template", "spec", "containers", 0, "env"), p.To("headGroupSpec", "rayStartParams")
	_, address := env[rayRedisAddress]
	_, password := env["REDIS_PASSWORD"]
	_, user := env["REDIS_USERNAME"]
	if user {
		c.Invalid(variables, nil, "REDIS_USERNAME must not be set: use gcsFaultToleranceOptions.redisUsername")
	}
	if start["redis-username"] != nil && start["redis-username"] != "" {
		c.Forbidden(parameters.To("redis-username"), "use gcsFaultToleranceOptions.redisUsername")
	}
	enabled, _ := annotations[rayFaultTolerance].(string)
	if options == nil {
		if address && !strings.EqualFold(enabled, "true") && !c.Open(enabled) {
			c.Invalid(variables, nil, rayRedisAddress+" requires gcsFaultToleranceOptions")
		}
		return
	}
	if enabled != "" {
		c.Forbidden(at{"metadata", "annotations", rayFaultTolerance}, "cannot be used with gcsFaultToleranceOptions")
	}
	if v := annotations[rayExternalStorage]; v != nil && v != "" {
		c.Forbidden(at{"metadata", "annotations", rayExternalStorage}, "use gcsFaultToleranceOptions.externalStorageNamespace")
	}
	if v := start["redis-password"]; v != nil && v != "" {
		c.Forbidden(parameters.To("redis-password"), "use gcsFaultToleranceOptions.redisPassword")
	}
	if password {
		c.Invalid(variables, nil, "REDIS_PASSWORD must not be set: use gcsFaultToleranceOptions.redisPassword")
	}
	if address {
		c.Invalid(variables, nil, rayRedisAddress+" must not be set: use gcsFaultToleranceOptions.redisAddress")
	}
}

// tokens checks the authentication of a cluster.
func (c *checker) tokens(p at, m map[string]any) {
	options := faults.Inner(m, "authOptions")
	kubernetes := isTrue(options["enableK8sTokenAuth"])
	if options["mode"] != "token" {
		if mode, _ := options["mode"].(string); kubernetes && !c.Open(mode) {
			c.Forbidden(p.To("authOptions", "enableK8sTokenAuth"), "requires authOptions.mode: token")
		}
		return
	}
	least := rayMinimumForTokens
	if kubernetes {
		least = "2.55.0"
		if name, ok := c.text(options, "secretName"); ok {
			c.Invalid(p.To("authOptions", "secretName"), name, "cannot be used with enableK8sTokenAuth")
		}
	}
	text, known := c.text(m, "rayVersion")
	have, err := version.ParseGeneric(text)
	switch {
	case !known && (m["rayVersion"] == nil || m["rayVersion"] == ""):
		c.Required(p.To("rayVersion"), "tokens require Ray "+least+" or later")
	case !known:
	case err != nil || have.LessThan(version.MustParseGeneric(least)):
		c.Invalid(p.To("rayVersion"), text, "tokens require Ray "+least+" or later")
	}
}
