package api

import (
	"net/http"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// gitVersion is the Kubernetes version that the sandbox reports. It implements a part of
// this release's API.
const gitVersion = "v1.35.4+hyperpod-sandbox"

func versionInfo() version.Info {
	return version.Info{Major: "1", Minor: "35", GitVersion: gitVersion, GitTreeState: "clean", Platform: "sandbox/none", GoVersion: "go1.26", Compiler: "gc"}
}

func (s *Server) index(w http.ResponseWriter) error {
	paths := []string{"/api", "/api/v1", "/apis"}
	for _, gv := range s.versions() {
		if gv.Group != "" {
			paths = append(paths, "/apis/"+gv.Group, "/apis/"+gv.String())
		}
	}
	writeJSON(w, http.StatusOK, metav1.RootPaths{Paths: append(paths, "/healthz", "/openapi/v2", "/openapi/v3", "/version")})
	return nil
}

// aggregated reports whether the client asks for aggregated discovery.
func aggregated(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept"), ",") {
		if strings.Contains(part, "g=apidiscovery.k8s.io") && strings.Contains(part, "v=v2") && !strings.Contains(part, "v=v2beta1") {
			return true
		}
	}
	return false
}

func (s *Server) rootAPI(w http.ResponseWriter, r *http.Request) error {
	if aggregated(r) {
		return s.writeAggregated(w, func(group string) bool { return group == "" })
	}
	writeJSON(w, http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{}})
	return nil
}

func apiGroup(g servedGroup) metav1.APIGroup {
	out := metav1.APIGroup{Name: g.name}
	for _, v := range g.versions {
		out.Versions = append(out.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g.gv(v).String(), Version: v})
	}
	out.PreferredVersion = out.Versions[0]
	return out
}

func (s *Server) rootAPIs(w http.ResponseWriter, r *http.Request) error {
	if aggregated(r) {
		return s.writeAggregated(w, func(group string) bool { return group != "" })
	}
	out := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	for _, g := range s.groups() {
		if g.name != "" {
			out.Groups = append(out.Groups, apiGroup(g))
		}
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func (s *Server) groupDiscovery(w http.ResponseWriter, r *http.Request, group string) error {
	for _, g := range s.groups() {
		if g.name == group && group != "" {
			out := apiGroup(g)
			out.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			writeJSON(w, http.StatusOK, out)
			return nil
		}
	}
	return unknownPath(r.Method)
}

func (s *Server) versionDiscovery(w http.ResponseWriter, group, version string) error {
	gv := schema.GroupVersion{Group: group, Version: version}
	out := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String(), APIResources: []metav1.APIResource{}}
	for _, r := range s.resources {
		if r.Group != group || r.Version != version {
			continue
		}
		out.APIResources = append(out.APIResources, metav1.APIResource{Name: r.Plural, SingularName: r.singular(), Namespaced: r.Namespaced,
			Kind: r.Kind, Verbs: r.verbs(), ShortNames: r.Short, Categories: r.categories})
		for _, sub := range r.subresources() {
			a := metav1.APIResource{Name: r.Plural + "/" + sub.name, Namespaced: r.Namespaced, Kind: r.Kind, Verbs: sub.verbs}
			if sub.kind.Kind != "" {
				a.Group, a.Version, a.Kind = sub.kind.Group, sub.kind.Version, sub.kind.Kind
			}
			out.APIResources = append(out.APIResources, a)
		}
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

type subresource struct {
	name  string
	verbs []string
	// kind is the kind of the subresource's objects, if it is not that of the resource.
	kind schema.GroupVersionKind
}

func (r *resource) subresources() []subresource {
	var out []subresource
	if r.status {
		out = append(out, subresource{name: "status", verbs: []string{"get", "patch", "update"}})
	}
	switch r.Kind {
	case "Pod":
		out = append(out, subresource{name: "log", verbs: []string{"get"}},
			subresource{name: "eviction", verbs: []string{"create"}, kind: schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}})
	case "ServiceAccount":
		out = append(out, subresource{name: "token", verbs: []string{"create"}, kind: schema.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}})
	}
	return out
}

// writeAggregated writes the aggregated discovery of the given groups.
func (s *Server) writeAggregated(w http.ResponseWriter, want func(group string) bool) error {
	out := apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"},
		Items: []apidiscovery.APIGroupDiscovery{}}
	for _, g := range s.groups() {
		if !want(g.name) {
			continue
		}
		item := apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.name}}
		for _, version := range g.versions {
			v := apidiscovery.APIVersionDiscovery{Version: version, Freshness: apidiscovery.DiscoveryFreshnessCurrent}
			for _, r := range s.resources {
				if r.Group == g.name && r.Version == version {
					v.Resources = append(v.Resources, r.discovery())
				}
			}
			item.Versions = append(item.Versions, v)
		}
		out.Items = append(out.Items, item)
	}
	body, err := encode(out)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	_, _ = w.Write(body)
	return nil
}

func (r *resource) discovery() apidiscovery.APIResourceDiscovery {
	scope := apidiscovery.ScopeCluster
	if r.Namespaced {
		scope = apidiscovery.ScopeNamespace
	}
	kind := &metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
	d := apidiscovery.APIResourceDiscovery{Resource: r.Plural, ResponseKind: kind, Scope: scope, SingularResource: r.singular(),
		Verbs: r.verbs(), ShortNames: r.Short, Categories: r.categories}
	for _, sub := range r.subresources() {
		answer := kind
		if sub.kind.Kind != "" {
			answer = &metav1.GroupVersionKind{Group: sub.kind.Group, Version: sub.kind.Version, Kind: sub.kind.Kind}
		}
		d.Subresources = append(d.Subresources, apidiscovery.APISubresourceDiscovery{Subresource: sub.name, ResponseKind: answer, Verbs: sub.verbs})
	}
	return d
}
