package workload

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/util/casebook"
)

type (
	asked struct {
		Workload        *kueue.Workload
		Transformations []config.ResourceTransformation
		Excluded        []string
	}
	told struct {
		Requests map[kueue.PodSetReference]corev1.ResourceList `json:",omitempty"`
		Error    string                                        `json:",omitempty"`
	}
)

func requestsOf(i *Info) map[kueue.PodSetReference]corev1.ResourceList {
	out := map[kueue.PodSetReference]corev1.ResourceList{}
	for _, ps := range i.TotalRequests {
		out[ps.Name] = ps.Requests.ToResourceList(resources.NewResourceFormatter())
	}
	return out
}

// AdjustResources is what Kueue's function of this name was.
func AdjustResources(ctx context.Context, cl client.Client, wl *kueue.Workload) {
	test := casebook.Test("TestAdjustResources")
	u := casebook.Unit{Test: test}
	if test != "" {
		u.Objects, u.Given = casebook.All(cl), casebook.JSON(asked{Workload: wl})
	}
	adjustResourcesOfKueue(ctx, cl, wl)
	if test != "" {
		i := &Info{}
		i.Update(klog.Background(), wl)
		u.Result = casebook.JSON(told{Requests: requestsOf(i)})
		u.Save()
	}
}

// NewInfo is what Kueue's function of this name was.
func NewInfo(w *kueue.Workload, opts ...InfoOption) *Info {
	i := newInfoOfKueue(w, opts...)
	test := casebook.Test("TestNewInfo")
	if test == "" {
		return i
	}
	o := defaultOptions
	for _, opt := range opts {
		opt(&o)
	}
	a := asked{Workload: w, Excluded: o.excludedResourcePrefixes}
	for _, t := range o.resourceTransformations {
		a.Transformations = append(a.Transformations, *t)
	}
	casebook.Unit{Test: test, Given: casebook.JSON(a), Result: casebook.JSON(told{Requests: requestsOf(i)})}.Save()
	return i
}

// ValidateResources is what Kueue's function of this name was.
func ValidateResources(i *Info) field.ErrorList {
	err := validateResourcesOfKueue(i)
	refusal(nil, i, err, "TestValidateResources")
	return err
}

// ValidateLimitRange is what Kueue's function of this name was.
func ValidateLimitRange(ctx context.Context, c client.Client, i *Info) field.ErrorList {
	err := validateLimitRangeOfKueue(ctx, c, i)
	refusal(c, i, err, "TestValidateLimitRange")
	return err
}

func refusal(c client.Client, i *Info, err field.ErrorList, of string) {
	test := casebook.Test(of)
	if test == "" {
		return
	}
	t := told{}
	if e := err.ToAggregate(); e != nil {
		t.Error = e.Error()
	}
	casebook.Unit{Test: test, Objects: casebook.All(c), Given: casebook.JSON(asked{Workload: i.Obj}), Result: casebook.JSON(t)}.Save()
}
