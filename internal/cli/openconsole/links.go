package openconsole

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Annotated returns the pages that the annotations of a job link to, by their names: tools that track
// experiments, and people, leave such links on jobs.
func Annotated(annotations map[string]string) (out []Page) {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		link := strings.TrimSpace(annotations[key])
		if u, err := url.Parse(link); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil {
			_, name, found := strings.Cut(key, "/")
			if !found {
				name = key
			}
			out = append(out, Page{Name: name, URL: u.String()})
		}
	}
	return out
}

// dashboards are the programs whose Ingresses are pages.
var dashboards = []string{"Grafana", "TensorBoard"}

// ingress is an Ingress of the API group networking.k8s.io.
type ingress struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		TLS []struct {
			Hosts []string `json:"hosts"`
		} `json:"tls"`
		Rules []struct {
			Host string `json:"host"`
			HTTP struct {
				Paths []struct {
					Path string `json:"path"`
				} `json:"paths"`
			} `json:"http"`
		} `json:"rules"`
	} `json:"spec"`
}

// Page is the first address of a dashboard's Ingress, false for another Ingress.
func (i ingress) page() (Page, bool) {
	program := ""
	for _, d := range dashboards {
		word := strings.ToLower(d)
		if strings.Contains(i.Metadata.Name, word) || i.Metadata.Labels["app.kubernetes.io/name"] == word || i.Metadata.Labels["app"] == word {
			program = d
		}
	}
	if program == "" {
		return Page{}, false
	}
	for _, r := range i.Spec.Rules {
		if r.Host == "" || strings.Contains(r.Host, "*") {
			continue
		}
		u := url.URL{Scheme: "http", Host: r.Host, Path: "/"}
		for _, t := range i.Spec.TLS {
			if len(t.Hosts) == 0 || slices.Contains(t.Hosts, r.Host) {
				u.Scheme = "https"
			}
		}
		if paths := r.HTTP.Paths; len(paths) > 0 && strings.HasPrefix(paths[0].Path, "/") && !strings.ContainsAny(paths[0].Path, "()*$") {
			u.Path = paths[0].Path
		}
		return Page{Name: program + " (" + i.Metadata.Name + ")", URL: u.String()}, true
	}
	return Page{}, false
}

// ingresses returns the pages of the dashboards in a namespace, "" for all. Without permission, or
// where the cluster has no such API, there are none: they are a help, and the rest is shown.
func ingresses(ctx context.Context, c *factory.Cluster, namespace string) (out []Page) {
	list, err := kube.List[ingress](ctx, c.Client, kinds.Ingress, namespace, kube.ListOptions{})
	if err != nil {
		return nil
	}
	for _, i := range list.Items {
		if p, ok := i.page(); ok {
			out = append(out, p)
		}
	}
	return out
}
