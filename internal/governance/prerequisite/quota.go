package prerequisite

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
)

// Exceeded is an entry of a ResourceQuota that the pods of a job do not fit into.
type Exceeded struct {
	Quota    string // the ResourceQuota
	Resource string // the entry, for example requests.cpu or pods
	Needs    resource.Quantity
	Hard     resource.Quantity
	Free     resource.Quantity
	// Unset means that the entry needs a value in every container and one has none: the API
	// server refuses such pods.
	Unset bool
}

// Never reports whether the entry is too small even if nothing else used it.
func (e Exceeded) Never() bool { return e.Unset || e.Needs.Cmp(e.Hard) > 0 }

// Over returns the entries that the pods exceed, of ResourceQuotas without scopes: the
// pods together, with what others use now.
func Over(pods []Pods, quotas []*corev1.ResourceQuota) (out []Exceeded) {
	for _, q := range quotas {
		if len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil {
			continue
		}
		hard := q.Status.Hard
		if len(hard) == 0 {
			hard = q.Spec.Hard
		}
		for _, name := range slices.Sorted(maps.Keys(hard)) {
			needs, unset, counts := Demand(pods, string(name))
			limit, used := hard[name], q.Status.Used[name]
			free := limit.DeepCopy()
			free.Sub(used)
			e := Exceeded{Quota: q.Name, Resource: string(name), Needs: needs, Hard: limit, Free: free, Unset: unset}
			if counts && (e.Unset || needs.Cmp(free) > 0 && !needs.IsZero()) {
				out = append(out, e)
			}
		}
	}
	return out
}

// Demand returns what the pods need of an entry of a ResourceQuota. unset reports a
// container that lacks a value the entry requires. counts is false for entries that
// pods do not count against. Source: the pod evaluator of k8s.io/kubernetes
// pkg/quota/v1/evaluator/core.
func Demand(pods []Pods, entry string) (needs resource.Quantity, unset, counts bool) {
	limits := strings.HasPrefix(entry, "limits.")
	name := corev1.ResourceName(strings.TrimPrefix(strings.TrimPrefix(entry, "limits."), "requests."))
	if entry == string(corev1.ResourcePods) || entry == "count/pods" {
		for i := range pods {
			needs.Add(*resource.NewQuantity(pods[i].Count, resource.DecimalSI))
		}
		return needs, false, true
	}
	base := name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
	if !base && !strings.HasPrefix(entry, "requests.") || strings.Contains(string(name), "storage") && name != corev1.ResourceEphemeralStorage {
		return needs, false, false
	}
	for i := range pods {
		s := &pods[i].Template.Spec
		list := fit.Requests(s)
		if limits {
			list = limitsOf(s)
		}
		q := list[name]
		q.Mul(pods[i].Count)
		needs.Add(q)
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			for _, c := range s.Containers {
				_, asked := c.Resources.Requests[name]
				_, limited := c.Resources.Limits[name]
				unset = unset || !limited && (limits || !asked)
			}
		}
	}
	return needs, unset, true
}

// limitsOf returns the limits of a pod's containers together.
func limitsOf(s *corev1.PodSpec) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, c := range s.Containers {
		for name, q := range c.Resources.Limits {
			sum := out[name]
			sum.Add(q)
			out[name] = sum
		}
	}
	return out
}

// WithDefaults returns the pods with the values that the LimitRanges of a namespace give
// to containers without any.
func WithDefaults(pods []Pods, namespace string, ranges []*corev1.LimitRange) []Pods {
	out := slices.Clone(pods)
	for i := range out {
		out[i].Template = *out[i].Template.DeepCopy()
		for k := range out[i].Template.Spec.Containers {
			r := &out[i].Template.Spec.Containers[k].Resources
			for _, l := range ranges {
				if l.Namespace != namespace {
					continue
				}
				for _, item := range l.Spec.Limits {
					if item.Type == corev1.LimitTypeContainer {
						r.Limits, r.Requests = under(r.Limits, item.Default), under(r.Requests, item.DefaultRequest)
					}
				}
			}
		}
	}
	return out
}

// under adds the values of defaults that a list lacks.
func under(list, defaults corev1.ResourceList) corev1.ResourceList {
	for name, q := range defaults {
		if _, given := list[name]; !given {
			if list == nil {
				list = corev1.ResourceList{}
			}
			list[name] = q
		}
	}
	return list
}
