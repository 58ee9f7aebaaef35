package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// operatorsOf has, by API group, the names of the Deployments of its operator, from the
// operators' own manifests.
var operatorsOf = []struct {
	group string
	names []string
}{
	{"kubeflow.org", []string{"training-operator", "mpi-operator"}},
	{"ray.io", []string{"kuberay-operator"}},
	{"jobset.x-k8s.io", []string{"jobset-controller-manager"}},
	{"leaderworkerset.x-k8s.io", []string{"lws-controller-manager"}},
}

// operators examines whether an operator runs for each served API group.
func operators(ctx context.Context, s Subject, f *findings) {
	all, err := kube.List[deployment](ctx, s.Client, kinds.Deployment, "", kube.ListOptions{})
	if err != nil {
		f.add(nil, failed(Operators, err))
		return
	}
	d := Diagnosis{Code: Operators, Status: OK}
	var down []string
	for _, o := range operatorsOf {
		served, err := s.Client.ServedVersions(ctx, o.group)
		if err != nil || len(served) == 0 {
			continue
		}
		found := false
		for _, dep := range all.Items {
			// A Helm release may put its own name in front.
			if !slices.ContainsFunc(o.names, func(n string) bool { return strings.HasSuffix(dep.Metadata.Name, n) }) {
				continue
			}
			found = true
			name := dep.Metadata.Name
			for _, c := range dep.Spec.Template.Spec.Containers[:min(1, len(dep.Spec.Template.Spec.Containers))] {
				name = short(c.Image)
			}
			d.Names = append(d.Names, name)
			if dep.Status.Ready == 0 {
				down = append(down, dep.Metadata.Namespace+"/"+dep.Metadata.Name)
			}
		}
		if !found {
			down = append(down, o.group)
		}
	}
	switch {
	case len(down) > 0:
		d.Status, d.Reason, d.Names = Warn, NotReady, down
	case len(d.Names) == 0:
		d.Status, d.Reason = Skipped, None
	}
	f.add(nil, d)
}

// hooks is a configuration of webhooks.
type hooks struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Webhooks []struct {
		Policy string `json:"failurePolicy"`
		Client struct {
			CABundle string `json:"caBundle"`
			Service  *struct {
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"service"`
		} `json:"clientConfig"`
		Rules []struct {
			Groups []string `json:"apiGroups"`
		} `json:"rules"`
	} `json:"webhooks"`
}

// concerns reports a webhook for Kueue's objects or jobs.
func concerns(groups []string) bool {
	return slices.ContainsFunc(groups, func(g string) bool {
		return g == kinds.KueueGroup || slices.ContainsFunc(kinds.Jobs(), func(j kinds.Job) bool { return g != "" && g != "apps" && j.Group == g })
	})
}

// webhooks examines whether the webhooks that creating a job calls can be reached: without
// them the API server refuses the job.
func webhooks(ctx context.Context, s Subject, f *findings) {
	services := map[[2]string]bool{}
	var untrusted []string
	for _, plural := range []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
		kind := map[bool]string{true: "MutatingWebhookConfiguration", false: "ValidatingWebhookConfiguration"}[strings.HasPrefix(plural, "mutating")]
		list, err := kube.List[hooks](ctx, s.Client, kinds.Resource{Group: "admissionregistration.k8s.io", Version: "v1", Plural: plural, Kind: kind}, "", kube.ListOptions{})
		if err != nil {
			f.add(nil, failed(Webhooks, err))
			return
		}
		for _, c := range list.Items {
			for _, w := range c.Webhooks {
				if w.Policy == "Ignore" || w.Client.Service == nil || !slices.ContainsFunc(w.Rules, func(r struct {
					Groups []string `json:"apiGroups"`
				}) bool {
					return concerns(r.Groups)
				}) {
					continue
				}
				services[[2]string{w.Client.Service.Namespace, w.Client.Service.Name}] = true
				if w.Client.CABundle == "" && !slices.Contains(untrusted, c.Metadata.Name) {
					untrusted = append(untrusted, c.Metadata.Name)
				}
			}
		}
	}
	d := Diagnosis{Code: Webhooks, Status: OK, Count: len(services)}
	if len(untrusted) > 0 {
		f.add(nil, Diagnosis{Code: Webhooks, Status: Fail, Reason: NoCertificate, Names: untrusted})
		return
	}
	for at := range services {
		ready, err := endpoints(ctx, s.Client, at[0], at[1])
		if err != nil {
			f.add(nil, failed(Webhooks, err))
			return
		}
		if !ready {
			d.Names = append(d.Names, at[0]+"/"+at[1])
		}
	}
	slices.Sort(d.Names)
	switch {
	case len(services) == 0:
		d.Status, d.Reason = Warn, None
	case len(d.Names) > 0:
		d.Status, d.Reason = Fail, NotReady
	}
	f.add(nil, d)
}

// endpoints reports whether a service has an endpoint that is ready.
func endpoints(ctx context.Context, c *kube.Client, namespace, service string) (bool, error) {
	type slice struct {
		Endpoints []struct {
			Conditions struct {
				Ready *bool `json:"ready"`
			} `json:"conditions"`
		} `json:"endpoints"`
	}
	r := kinds.Resource{Group: "discovery.k8s.io", Version: "v1", Plural: "endpointslices", Kind: "EndpointSlice", Namespaced: true}
	list, err := kube.List[slice](ctx, c, r, namespace, kube.ListOptions{LabelSelector: "kubernetes.io/service-name=" + service})
	if err != nil {
		return false, err
	}
	for _, s := range list.Items {
		for _, e := range s.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				return true, nil
			}
		}
	}
	return false, nil
}
