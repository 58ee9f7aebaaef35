package control

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/limits"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// roleAnnotation holds a pod's role in its job.
const roleAnnotation = kinds.OwnPrefix + "sandbox-role"

// givePods creates a job's missing pods and removes surplus ones.
func (s *sim) givePods(ctx context.Context, j job) error {
	if j.kind.Itself || j.shares() {
		return nil
	}
	var planned []podPlan
	if !j.suspended() {
		as, err := s.admitted(ctx, j)
		if err != nil {
			return err
		}
		planned = plan(j, as)
	}
	spare := map[string][]*store.Object{} // by name or generateName
	for _, p := range s.podsOf(j) {
		key := p.Name
		if g := object.Text(p.Map(), "metadata", "generateName"); g != "" {
			key = g
		}
		spare[key] = append(spare[key], p)
	}
	for _, w := range planned {
		if have := spare[w.name]; len(have) > 0 {
			spare[w.name] = have[1:]
			continue
		}
		if err := s.makePod(j, w); err != nil {
			return err
		}
	}
	for _, rest := range spare {
		for _, p := range rest {
			s.st.Collect(kinds.Pod.FullName(), p)
		}
	}
	return nil
}

func (s *sim) makePod(j job, w podPlan) error {
	template := store.CopyMap(w.template)
	spec := object.Child(template, "spec")
	meta := map[string]any{"namespace": j.o.Namespace, "ownerReferences": []any{ownerRef(j.m())}}
	if meta["name"] = w.name; strings.HasSuffix(w.name, "-") {
		meta["generateName"], meta["name"] = w.name, s.st.GenerateName(kinds.Pod.FullName(), j.o.Namespace, w.name)
	}
	labels := object.Child(template, "metadata", "labels")
	for k, v := range w.labels {
		labels[k] = v
	}
	meta["labels"] = labels
	annotations := object.Child(template, "metadata", "annotations")
	annotations[roleAnnotation] = w.role
	meta["annotations"] = annotations
	defaultPod(spec, j.kind)
	name := store.Key{Namespace: j.o.Namespace, Name: object.Text(meta, "name")}
	if s.st.Get(kinds.Pod.FullName(), name.Namespace, name.Name) != nil {
		// Another pod has the name. The job waits until that pod is gone.
		s.event(j.o, "Warning", "FailedCreatePod", `pods "`+name.Name+`" already exists`)
		return nil
	}
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": map[string]any{"phase": "Pending", "qosClass": "Burstable"}}
	if j.kind.OnePod && j.governed() {
		object.Gate(pod)
		s.made = true
	}
	refused, err := s.refused(pod)
	if err != nil {
		return err
	}
	if refused != "" {
		s.event(j.o, "Warning", podReason(j.kind, "FailedCreate"), "Error creating: "+refused)
		return nil
	}
	if _, err := s.create(kinds.Pod.FullName(), pod); err != nil {
		return err
	}
	s.event(j.o, "Normal", podReason(j.kind, "SuccessfulCreate"), "Created pod: "+name.Name)
	return nil
}

// refused sets the defaults of a new pod's namespace, and returns why the API server would
// refuse the pod, "" if it would not.
func (s *sim) refused(pod map[string]any) (string, error) {
	namespace, name := object.Text(pod, "metadata", "namespace"), object.Text(pod, "metadata", "name")
	if err := limits.Default(s.st, namespace, pod); err != nil {
		return "", err
	}
	why, err := limits.Check(s.st, kinds.Pod, pod)
	if why != "" {
		why = fmt.Sprintf("pods %q is forbidden: %s", name, why)
	}
	return why, err
}

// podReason returns the reason of an event about a pod. Operators add "Pod" to the reasons
// of Kubernetes' own controllers.
func podReason(k kinds.Job, reason string) string {
	if k.Operator == kinds.Kubernetes {
		return reason
	}
	return reason + "Pod"
}

// defaultPod sets the defaults of the API server and of the kind's operator.
func defaultPod(spec map[string]any, k kinds.Job) {
	defaults := map[string]any{"dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "serviceAccountName": "default",
		"terminationGracePeriodSeconds": int64(30), "enableServiceLinks": true, "securityContext": map[string]any{}}
	if spec["restartPolicy"] == nil {
		if spec["restartPolicy"] = "Always"; k.Kind != "" {
			spec["restartPolicy"] = cmp.Or(k.RestartPolicy, "OnFailure")
		}
	}
	for key, v := range defaults {
		if spec[key] == nil {
			spec[key] = v
		}
	}
	limits.Requests(spec)
}

// runPod sets the status of a bound pod to running.
func (s *sim) runPod(m map[string]any, node string) {
	now := object.Stamp(s.now)
	status := object.Child(m, "status")
	status["phase"], status["startTime"] = "Running", now
	status["podIP"], status["hostIP"] = podAddress(object.Text(m, "metadata", "uid")), podAddress(node)
	status["podIPs"] = []any{map[string]any{"ip": status["podIP"]}}
	status["conditions"] = conditions(now, "PodScheduled", "Initialized", "PodReadyToStartContainers", "ContainersReady", "Ready")
	status["containerStatuses"] = s.containers(m, func(c map[string]any) {
		c["ready"], c["started"] = true, true
		c["state"] = map[string]any{"running": map[string]any{"startedAt": now}}
	})
}

// endPod sets the status of a pod to succeeded or failed.
func (s *sim) endPod(m map[string]any, failed bool) {
	now := object.Stamp(s.now)
	status := object.Child(m, "status")
	phase, reason, code := "Succeeded", "Completed", int64(0)
	if failed {
		phase, reason, code = "Failed", "Error", 1
	}
	status["phase"] = phase
	for _, c := range object.List(status, "conditions") {
		if t := object.Text(c, "type"); t == "Ready" || t == "ContainersReady" {
			cm := object.Map(c)
			cm["status"], cm["reason"], cm["lastTransitionTime"] = "False", "Pod"+strings.Replace(phase, "Succeeded", "Completed", 1), now
		}
	}
	started := status["startTime"]
	status["containerStatuses"] = s.containers(m, func(c map[string]any) {
		c["ready"], c["started"] = false, false
		c["state"] = map[string]any{"terminated": map[string]any{"exitCode": code, "reason": reason, "startedAt": started, "finishedAt": now}}
	})
}

func (s *sim) containers(m map[string]any, fill func(map[string]any)) []any {
	var out []any
	for _, ct := range object.List(m, "spec", "containers") {
		name := object.Text(ct, "name")
		c := map[string]any{"name": name, "image": object.Text(ct, "image"), "imageID": "", "restartCount": int64(0),
			"containerID": "sandbox://" + object.Text(m, "metadata", "uid") + "/" + name}
		fill(c)
		out = append(out, c)
	}
	return out
}

func conditions(now string, types ...string) []any {
	var out []any
	for _, t := range types {
		out = append(out, map[string]any{"type": t, "status": "True", "lastTransitionTime": now})
	}
	return out
}
