package control

import (
	"fmt"
	"slices"
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

// need is an object that a pod names, or a key of it. Volume is the volume that is made of it, "" if variables are.
type need struct {
	kind      kinds.Resource
	name, key string
	optional  *bool
	volume    string
}

// needs returns the Secrets and ConfigMaps that a pod names, in the order in which the kubelet reads them.
func needs(pod *corev1.Pod) (out []need) {
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.Secret != nil:
			out = append(out, need{kinds.Secret, v.Secret.SecretName, "", v.Secret.Optional, v.Name})
		case v.ConfigMap != nil:
			out = append(out, need{kinds.ConfigMap, v.ConfigMap.Name, "", v.ConfigMap.Optional, v.Name})
		case v.Projected != nil:
			for _, p := range v.Projected.Sources {
				switch {
				case p.Secret != nil:
					out = append(out, need{kinds.Secret, p.Secret.Name, "", p.Secret.Optional, v.Name})
				case p.ConfigMap != nil:
					out = append(out, need{kinds.ConfigMap, p.ConfigMap.Name, "", p.ConfigMap.Optional, v.Name})
				}
			}
		}
	}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, e := range c.EnvFrom {
			switch {
			case e.SecretRef != nil:
				out = append(out, need{kinds.Secret, e.SecretRef.Name, "", e.SecretRef.Optional, ""})
			case e.ConfigMapRef != nil:
				out = append(out, need{kinds.ConfigMap, e.ConfigMapRef.Name, "", e.ConfigMapRef.Optional, ""})
			}
		}
		for _, e := range c.Env {
			switch from := e.ValueFrom; {
			case from == nil:
			case from.SecretKeyRef != nil:
				out = append(out, need{kinds.Secret, from.SecretKeyRef.Name, from.SecretKeyRef.Key, from.SecretKeyRef.Optional, ""})
			case from.ConfigMapKeyRef != nil:
				out = append(out, need{kinds.ConfigMap, from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional, ""})
			}
		}
	}
	return out
}

// lacks returns the first object that a pod needs and that does not exist, nil if all do.
func (s *sim) lacks(pod *corev1.Pod) *lack {
	for _, n := range needs(pod) {
		if why := s.missing(n, pod.Namespace); why != "" {
			return &lack{n.volume, why}
		}
	}
	return nil
}

// missing returns what the kubelet says about a need that does not exist, "" about others.
func (s *sim) missing(n need, namespace string) string {
	if n.name == "" || n.optional != nil && *n.optional {
		return ""
	}
	o := s.st.Get(n.kind.FullName(), namespace, n.name)
	if o == nil {
		return fmt.Sprintf("%s %q not found", strings.ToLower(n.kind.Kind), n.name)
	}
	if n.key == "" || object.At(o.Map(), "data", n.key) != nil || object.At(o.Map(), "stringData", n.key) != nil || object.At(o.Map(), "binaryData", n.key) != nil {
		return ""
	}
	return fmt.Sprintf("couldn't find key %s in %s %s/%s", n.key, n.kind.Kind, namespace, n.name)
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
