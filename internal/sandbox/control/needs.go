package control

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// noClaim returns why the scheduler cannot place a pod whose claim does not exist; "" if all do.
func (s *sim) noClaim(pod *corev1.Pod) string {
	for _, v := range pod.Spec.Volumes {
		if c := v.PersistentVolumeClaim; c != nil && s.st.Get(kinds.PersistentVolumeClaim.FullName(), pod.Namespace, c.ClaimName) == nil {
			return fmt.Sprintf("persistentvolumeclaim %q not found", c.ClaimName)
		}
	}
	return ""
}

// lack is an object that the kubelet needs to start a pod and does not find. Volume is the
// volume that is made of it, "" if variables are.
type lack struct{ volume, why string }

// lacks returns the first object that a pod misses, nil if it misses none.
func (s *sim) lacks(pod *corev1.Pod) *lack {
	missing := func(r kinds.Resource, name, key string, optional *bool) string {
		if name == "" || optional != nil && *optional {
			return ""
		}
		o := s.st.Get(r.FullName(), pod.Namespace, name)
		if o == nil {
			return fmt.Sprintf("%s %q not found", strings.ToLower(r.Kind), name)
		}
		if key == "" || object.At(o.Map(), "data", key) != nil || object.At(o.Map(), "stringData", key) != nil || object.At(o.Map(), "binaryData", key) != nil {
			return ""
		}
		return fmt.Sprintf("couldn't find key %s in %s %s/%s", key, r.Kind, pod.Namespace, name)
	}
	for _, v := range pod.Spec.Volumes {
		var why string
		switch {
		case v.Secret != nil:
			why = missing(kinds.Secret, v.Secret.SecretName, "", v.Secret.Optional)
		case v.ConfigMap != nil:
			why = missing(kinds.ConfigMap, v.ConfigMap.Name, "", v.ConfigMap.Optional)
		case v.Projected != nil:
			for _, p := range v.Projected.Sources {
				switch {
				case why != "":
				case p.Secret != nil:
					why = missing(kinds.Secret, p.Secret.Name, "", p.Secret.Optional)
				case p.ConfigMap != nil:
					why = missing(kinds.ConfigMap, p.ConfigMap.Name, "", p.ConfigMap.Optional)
				}
			}
		}
		if why != "" {
			return &lack{v.Name, why}
		}
	}
	for _, c := range append(append([]corev1.Container(nil), pod.Spec.InitContainers...), pod.Spec.Containers...) {
		for _, e := range c.EnvFrom {
			var why string
			switch {
			case e.SecretRef != nil:
				why = missing(kinds.Secret, e.SecretRef.Name, "", e.SecretRef.Optional)
			case e.ConfigMapRef != nil:
				why = missing(kinds.ConfigMap, e.ConfigMapRef.Name, "", e.ConfigMapRef.Optional)
			}
			if why != "" {
				return &lack{why: why}
			}
		}
		for _, e := range c.Env {
			var why string
			switch from := e.ValueFrom; {
			case from == nil:
			case from.SecretKeyRef != nil:
				why = missing(kinds.Secret, from.SecretKeyRef.Name, from.SecretKeyRef.Key, from.SecretKeyRef.Optional)
			case from.ConfigMapKeyRef != nil:
				why = missing(kinds.ConfigMap, from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional)
			}
			if why != "" {
				return &lack{why: why}
			}
		}
	}
	return nil
}

// startPod starts a pod on its node, or holds it there while an object that it names is
// missing, as the kubelet does.
func (s *sim) startPod(o *store.Object, m map[string]any, pod *corev1.Pod, node string) error {
	l := s.lacks(pod)
	if l == nil {
		s.runPod(m, node)
		_, err := s.put(kinds.Pod.FullName(), m)
		return err
	}
	reason, kind, message, text := "CreateContainerConfigError", "Failed", "Error: "+l.why, l.why
	if l.volume != "" {
		reason, kind, text = "ContainerCreating", "FailedMount", ""
		message = fmt.Sprintf("MountVolume.SetUp failed for volume %q : %s", l.volume, l.why)
	}
	waiting := map[string]any{"reason": reason}
	if text != "" {
		waiting["message"] = text
	}
	if have := object.List(m, "status", "containerStatuses"); len(have) > 0 && object.Text(have[0], "state", "waiting", "message") == text &&
		object.Text(have[0], "state", "waiting", "reason") == reason {
		return nil
	}
	now := object.Stamp(s.now)
	status := object.Child(m, "status")
	status["phase"], status["startTime"], status["hostIP"] = "Pending", now, podAddress(node)
	status["conditions"] = conditions(now, "PodScheduled")
	status["containerStatuses"] = s.containers(m, func(c map[string]any) {
		c["ready"], c["started"] = false, false
		delete(c, "containerID")
		c["state"] = map[string]any{"waiting": waiting}
	})
	s.event(o, "Warning", kind, message)
	_, err := s.put(kinds.Pod.FullName(), m)
	return err
}

// startHeld starts pods whose missing objects exist now.
func (s *sim) startHeld() error {
	for _, o := range s.st.List(kinds.Pod.FullName(), "") {
		node := object.Text(o.Map(), "spec", "nodeName")
		if node == "" || object.Text(o.Map(), "status", "phase") != "Pending" {
			continue
		}
		pod, err := typed[corev1.Pod](o)
		if err != nil {
			return fmt.Errorf("Pod %s/%s: %w", o.Namespace, o.Name, err)
		}
		if err := s.startPod(o, o.Copy(), pod, node); err != nil {
			return err
		}
	}
	return nil
}
