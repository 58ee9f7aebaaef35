// Package prerequisite decides what would keep the pods of a job from being created or
// started although Kueue admits the job: objects that the pods name and that do not
// exist, the ResourceQuotas of the namespace, and its Pod Security level.
package prerequisite

import (
	"cmp"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/podrules"
)

// Reference is an object that the pods of a job name.
type Reference struct {
	Resource kinds.Resource
	Name     string
	// Pull means that the object is an image pull secret. Pods start without it if their
	// images are public.
	Pull bool
}

// Pods are the pods of one role of a job.
type Pods struct {
	Role     string
	Count    int64
	Template corev1.PodTemplateSpec
}

// PodsOf returns the pods of a job object, those that can be decoded.
func PodsOf(object map[string]any) (out []Pods) {
	k, ok := kinds.JobFor(kinds.Text(object, "apiVersion"), kinds.Text(object, "kind"))
	if !ok {
		return nil
	}
	claimed := podrules.ClaimVolumes(object) // in place of the pods' own volumes of these names
	for _, part := range k.Parts(object) {
		p := Pods{Role: part.Name, Count: part.Replicas}
		data, err := json.Marshal(part.Template)
		if err == nil && json.Unmarshal(data, &p.Template) == nil && p.Count > 0 {
			spec := &p.Template.Spec
			spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool { return slices.Contains(claimed, v.Name) })
			out = append(out, p)
		}
	}
	return out
}

// References returns the objects that pods name and cannot start without, each once.
// Optional ones are left out.
func References(pods []Pods) (out []Reference) {
	add := func(r kinds.Resource, name string, pull bool) {
		ref := Reference{Resource: r, Name: name, Pull: pull}
		same := func(o Reference) bool { return o.Resource.Kind == r.Kind && o.Name == name && o.Pull == pull }
		if name != "" && !slices.ContainsFunc(out, same) {
			out = append(out, ref)
		}
	}
	must := func(optional *bool) bool { return optional == nil || !*optional }
	for i := range pods {
		s := &pods[i].Template.Spec
		add(kinds.ServiceAccount, cmp.Or(s.ServiceAccountName, s.DeprecatedServiceAccount), false)
		if s.RuntimeClassName != nil {
			add(kinds.RuntimeClass, *s.RuntimeClassName, false)
		}
		for _, p := range s.ImagePullSecrets {
			add(kinds.Secret, p.Name, true)
		}
		for _, v := range s.Volumes {
			switch {
			case v.PersistentVolumeClaim != nil:
				add(kinds.PersistentVolumeClaim, v.PersistentVolumeClaim.ClaimName, false)
			case v.ConfigMap != nil && must(v.ConfigMap.Optional):
				add(kinds.ConfigMap, v.ConfigMap.Name, false)
			case v.Secret != nil && must(v.Secret.Optional):
				add(kinds.Secret, v.Secret.SecretName, false)
			case v.Projected != nil:
				for _, p := range v.Projected.Sources {
					switch {
					case p.ConfigMap != nil && must(p.ConfigMap.Optional):
						add(kinds.ConfigMap, p.ConfigMap.Name, false)
					case p.Secret != nil && must(p.Secret.Optional):
						add(kinds.Secret, p.Secret.Name, false)
					}
				}
			}
		}
		for _, c := range slices.Concat(s.InitContainers, s.Containers) {
			for _, e := range c.EnvFrom {
				switch {
				case e.ConfigMapRef != nil && must(e.ConfigMapRef.Optional):
					add(kinds.ConfigMap, e.ConfigMapRef.Name, false)
				case e.SecretRef != nil && must(e.SecretRef.Optional):
					add(kinds.Secret, e.SecretRef.Name, false)
				}
			}
			for _, e := range c.Env {
				switch f := e.ValueFrom; {
				case f == nil:
				case f.ConfigMapKeyRef != nil && must(f.ConfigMapKeyRef.Optional):
					add(kinds.ConfigMap, f.ConfigMapKeyRef.Name, false)
				case f.SecretKeyRef != nil && must(f.SecretKeyRef.Optional):
					add(kinds.Secret, f.SecretKeyRef.Name, false)
				}
			}
		}
	}
	return out
}

// Violation is a pod that the Pod Security level of a namespace forbids.
type Violation struct {
	Role, Level, Detail string
	// Policy is the level with its version, as "restricted:latest".
	Policy string
}

// Violations returns the roles whose pods the enforced Pod Security level of a namespace
// forbids. The API server's own evaluator decides.
func Violations(pods []Pods, namespaceLabels map[string]string) (out []Violation) {
	enforced, _ := psa.PolicyToEvaluate(namespaceLabels, psa.Policy{Enforce: psa.LevelVersion{Level: psa.LevelPrivileged, Version: psa.LatestVersion()}})
	if enforced.Enforce.Level == psa.LevelPrivileged || enforced.Enforce.Level == "" {
		return nil
	}
	judge, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return nil
	}
	for i := range pods {
		t := &pods[i].Template
		if r := policy.AggregateCheckResults(judge.EvaluatePod(enforced.Enforce, &t.ObjectMeta, &t.Spec)); !r.Allowed {
			out = append(out, Violation{pods[i].Role, string(enforced.Enforce.Level), r.ForbiddenDetail(), enforced.Enforce.String()})
		}
	}
	return out
}
