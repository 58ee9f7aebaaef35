package kinds

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// SparkApplication is the kind of the Spark operator (v1beta2): a driver and its executors.
//
// Kueue (v0.19.2) does not see the node labels of the whole application (spec.nodeSelector): it
// chooses flavors without them, moves them to the driver and the executors when it starts the
// application, and loses them when it suspends it again, because it restores these two from pod
// sets without them (RunWithPodSetsInfo, RestorePodSetsInfo; the comparison with Kueue in
// governance/admission/oracle shows it).
//
// Sources: pkg/controller/jobs/sparkapplication of Kueue v0.19; api/v1beta2 and
// internal/webhook of the Spark operator v2.5.
var SparkApplication = Job{
	Resource: Resource{Group: "sparkoperator.k8s.io", Version: "v1beta2", Plural: "sparkapplications", Kind: "SparkApplication",
		Namespaced: true, Short: []string{"sparkapp"}},
	PodLabel:    "sparkoperator.k8s.io/app-name",
	OneCluster:  true,
	SuspendPath: path("spec.suspend"),
	Gate:        "SparkApplicationIntegration",
	Form:        &Form{parts: []formPart{sparkPart(sparkDriver), sparkPart(sparkExecutor)}},
	Operator:    "Spark operator",
	Style:       Described,
	Status: Status{Word: path("status.applicationState.state"), Waits: "SUSPENDED", Words: map[Phase][]string{
		Starting: {"SUBMITTED"}, Running: {"RUNNING", "SUCCEEDING", "FAILING"}, Restarting: {"PENDING_RERUN", "INVALIDATING"},
		Succeeded: {"COMPLETED"}, Failed: {"FAILED", "SUBMISSION_FAILED"}},
		Message: path("status.applicationState.errorMessage"), Since: path("status.lastSubmissionAttemptTime"), Ended: path("status.terminationTime")},
	Numbers: Numbers{Unranked: true, Place: func(labels map[string]string, _ map[string]int64) (string, int) {
		role := labels[sparkRoleLabel]
		if role == sparkDriver {
			return role, 0
		}
		return role, index(labels[sparkExecutorLabel]) - 1
	}},
	Policy:        Policy{At: path("spec"), TTL: "timeToLiveSeconds"},
	RestartPolicy: "Never",
	Refuse:        refuseSpark,
	Columns: func() []Column {
		return []Column{{Name: "Suspend", At: path("spec.suspend")}, {Name: "Status", At: path("status.applicationState.state")}, {Name: "Attempts", At: path("status.executionAttempts")}, {Name: "Start", At: path("status.lastSubmissionAttemptTime")}, {Name: "Finish", At: path("status.terminationTime")}}
	},
	ChecksTopology: true,
	Seen:           seenOfSpark,
	CPUUnseen:      sparkCores,
	Made: func(p Planned) (string, map[string]string) {
		labels := map[string]string{sparkRoleLabel: p.Part.Name, "sparkoperator.k8s.io/launched-by-spark-operator": "true"}
		if p.Part.Name == sparkDriver {
			return p.Name + "-driver", labels
		}
		number := strconv.FormatInt(p.Index+1, 10)
		labels[sparkExecutorLabel] = number
		return p.Name + "-" + p.UID[:min(8, len(p.UID))] + "-exec-" + number, labels
	},
}

const (
	sparkDriver, sparkExecutor = "driver", "executor"
	sparkRoleLabel             = "spark-role"
	sparkExecutorLabel         = "spark-exec-id"
)

// sparkPart is the driver or the executors.
func sparkPart(role string) formPart {
	at := "spec." + role
	p := formPart{Role: Role{Path: path(at), Name: role, Leads: role == sparkDriver}, container: "spark-kubernetes-" + role}
	for pod, key := range map[string]string{"container.env": "env", "container.envFrom": "envFrom", "container.volumeMounts": "volumeMounts",
		"container.securityContext": "securityContext", "container.resources.requests.cpu": "coreRequest", "container.resources.limits.cpu": "coreLimit",
		"metadata.labels": "labels", "metadata.annotations": "annotations", "spec.nodeSelector": "nodeSelector", "spec.affinity": "affinity",
		"spec.tolerations": "tolerations", "spec.initContainers": "initContainers", "spec.priorityClassName": "priorityClassName",
		"spec.serviceAccountName": "serviceAccount", "spec.schedulerName": "schedulerName", "spec.securityContext": "podSecurityContext",
		"spec.hostNetwork": "hostNetwork", "spec.terminationGracePeriodSeconds": "terminationGracePeriodSeconds",
		"spec.schedulingGates": "template.spec.schedulingGates"} {
		p.fields = append(p.fields, field(pod, at+"."+key))
	}
	image := field("container.image", at+".image")
	image.or = path("spec.image")
	p.fields = append(p.fields, image, field("spec.volumes", "spec.volumes"))
	slices.SortFunc(p.fields, func(a, b formField) int { return slices.Compare(a.at, b.at) })
	for _, key := range []string{"memory", "memoryLimit", "cores", "gpu.name", "gpu.quantity", "instances"} {
		p.also = append(p.also, path(at+"."+key))
	}
	p.also = append(p.also, path("spec.mode"), path("spec.nodeSelector.*"), path("spec.dynamicAllocation.enabled"),
		[]string{"spec", "sparkConf", "spark.executor.instances"}, []string{"spec", "sparkConf", "spark." + role + ".memory"})
	if role == sparkExecutor {
		p.pods = path("spec.executor.instances")
		p.none = func(object map[string]any) bool { // the operator sets 1 only for these
			_, given := number(object, p.pods)
			on, _ := lookup(object, path("spec.dynamicAllocation.enabled")).(bool)
			conf, _ := lookup(object, path("spec.sparkConf")).(map[string]any)
			return !given && (on || conf["spark.executor.instances"] != nil)
		}
	}
	p.complete = func(object, template, container map[string]any) { completeSpark(object, template, container, role) }
	p.keep = func(object, before, after map[string]any) { keepSpark(object, before, after, role) }
	return p
}

// completeSpark adds memory, GPUs, sidecars, the metadata of the own template and the node
// labels of the whole application. Cores count where there is no request: the operator
// starts the pods with that, though Kueue does not count it.
func completeSpark(object, template, container map[string]any, role string) {
	part, _ := lookup(object, path("spec."+role)).(map[string]any)
	conf, _ := lookup(object, path("spec.sparkConf")).(map[string]any)
	memory := Text(part, "memory")
	if memory == "" && conf["spark."+role+".memory"] == nil {
		memory = "1g"
	}
	for kind, amount := range map[string]string{"requests": memory, "limits": Text(part, "memoryLimit")} {
		if amount != "" {
			Set(container, fromJava(amount), "resources", kind, "memory")
		}
	}
	if name, n := sparkDevice(part); n > 0 {
		Set(container, n, "resources", "limits", name)
	}
	if At(container, "resources", "requests", "cpu") == nil {
		cores, ok := number(part, path("cores"))
		if !ok {
			cores = 1
		}
		Set(container, strconv.FormatInt(cores, 10), "resources", "requests", "cpu")
	}
	if list, _ := part["sidecars"].([]any); len(list) > 0 {
		Set(template, slices.Concat([]any{container}, copyOf(list).([]any)), "spec", "containers")
	}
	if all, _ := lookup(object, path("spec.nodeSelector")).(map[string]any); len(all) > 0 && At(template, "spec", "nodeSelector") == nil {
		Set(template, copyOf(all), "spec", "nodeSelector")
	}
	for _, key := range []string{"labels", "annotations"} {
		own, _ := lookup(part, []string{"template", "metadata", key}).(map[string]any)
		for k, v := range own {
			if m := Child(template, "metadata", key); m[k] == nil {
				m[k] = v
			}
		}
	}
}

func sparkDevice(part map[string]any) (name string, n int64) {
	n, _ = number(part, path("gpu.quantity"))
	if name = Text(part, "gpu", "name"); name == "" {
		n = 0
	}
	return name, n
}

// keepSpark writes memory, GPUs, sidecars and node labels.
func keepSpark(object, before, after map[string]any, role string) {
	part := Child(object, "spec", role)
	was, is := mainOf(before, ""), mainOf(after, "spark-kubernetes-"+role)
	for kind, key := range map[string]string{"requests": "memory", "limits": "memoryLimit"} {
		if v := At(is, "resources", kind, "memory"); !alike(v, At(was, "resources", kind, "memory")) {
			if s, ok := v.(string); ok && s != "" {
				part[key] = toJava(s)
			} else {
				delete(part, key)
			}
		}
	}
	name, n := sparkDevice(part)
	delete(part, "gpu")
	for _, kind := range []string{"requests", "limits"} {
		list, _ := At(is, "resources", kind).(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(list)) {
			if strings.HasSuffix(k, "/efa") { // no field has network interfaces
				continue
			}
			if m, ok := Int(list, k); ok && strings.Contains(k, "/") && (m != n || k != name) {
				name, n = k, m
			}
			if s, ok := list[k].(string); ok && strings.Contains(k, "/") {
				if m, err := strconv.ParseInt(s, 10, 64); err == nil {
					name, n = k, m
				}
			}
		}
		if n > 0 && list[name] != nil {
			part["gpu"] = map[string]any{"name": name, "quantity": n}
			if kind == "requests" {
				delete(list, name)
			}
			Set(is, n, "resources", "limits", name)
		}
	}
	all, _ := lookup(after, path("spec.containers")).([]any)
	var more []any
	for _, c := range all {
		if c, ok := c.(map[string]any); ok && c["name"] != is["name"] {
			more = append(more, c)
		}
	}
	if list, _ := part["sidecars"].([]any); !alike(list, more) {
		part["sidecars"] = more
	}
	if whole, _ := lookup(object, path("spec.nodeSelector")).(map[string]any); len(whole) > 0 && part["nodeSelector"] != nil {
		other := sparkExecutor // the operator refuses both
		if role == sparkExecutor {
			other = sparkDriver
		}
		if o := Child(object, "spec", other); empty(o["nodeSelector"]) {
			o["nodeSelector"] = copyOf(whole)
		}
		delete(Child(object, "spec"), "nodeSelector")
	}
}

// seenOfSpark leaves out what Kueue does not see: the CPU of cores, and the node labels of
// the whole application.
func seenOfSpark(object map[string]any, role string, template map[string]any) map[string]any {
	out := copyOf(template).(map[string]any)
	part, _ := lookup(object, path("spec."+role)).(map[string]any)
	if empty(part["coreRequest"]) {
		if requests, ok := At(mainOf(out, "spark-kubernetes-"+role), "resources", "requests").(map[string]any); ok {
			delete(requests, "cpu")
		}
	}
	if spec, ok := out["spec"].(map[string]any); ok && empty(part["nodeSelector"]) {
		delete(spec, "nodeSelector")
	}
	return out
}

// sparkCores returns the first cores that have no request.
func sparkCores(object map[string]any) (unseen, counted string) {
	for _, role := range []string{sparkDriver, sparkExecutor} {
		if part, ok := lookup(object, path("spec."+role)).(map[string]any); ok && empty(part["coreRequest"]) {
			return "spec." + role + ".cores", "spec." + role + ".coreRequest"
		}
	}
	return "", ""
}

// refuseSpark returns why Kueue's webhook or the operator's refuses an application.
func refuseSpark(object map[string]any) (at, why string) {
	managed := Text(object, "metadata", "labels", QueueLabel) != ""
	mode := Text(object, "spec", "mode")
	on, _ := lookup(object, path("spec.dynamicAllocation.enabled")).(bool)
	whole, _ := lookup(object, path("spec.nodeSelector")).(map[string]any)
	switch {
	case managed && mode != "" && mode != "cluster":
		return "spec.mode", "only Cluster mode is supported for a kueue managed job"
	case managed && on:
		return "spec.dynamicAllocation.enabled", "a kueue managed job can use dynamicAllocation only when the ElasticJobsViaWorkloadSlices feature gate is on and the job is an elastic job"
	case whole != nil && (lookup(object, path("spec.driver.nodeSelector")) != nil || lookup(object, path("spec.executor.nodeSelector")) != nil):
		return "spec.nodeSelector", "node selector cannot be defined at both SparkApplication and Driver/Executor"
	}
	return "", ""
}

// javaUnits are the units of memory in Java's form, the longer ones first.
var javaUnits = [][2]string{{"kb", "Ki"}, {"mb", "Mi"}, {"gb", "Gi"}, {"tb", "Ti"}, {"pb", "Pi"}, {"k", "Ki"}, {"m", "Mi"}, {"g", "Gi"}, {"t", "Ti"}, {"p", "Pi"}}

// fromJava returns an amount of memory as Kubernetes writes it.
func fromJava(s string) string {
	s = strings.TrimSpace(s)
	for _, u := range javaUnits {
		if rest, ok := strings.CutSuffix(strings.ToLower(s), u[0]); ok {
			return rest + u[1]
		}
	}
	return s
}

// toJava is the opposite of fromJava.
func toJava(s string) string {
	for _, u := range javaUnits {
		if rest, ok := strings.CutSuffix(s, u[1]); ok && len(u[0]) == 1 {
			return rest + u[0]
		}
	}
	return s
}
