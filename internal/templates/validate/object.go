package validate

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// CheckAll checks every object and returns the job, nil if there is none.
func (f *Faults) CheckAll(s *resolve.Plan, objects []map[string]any) (job *jobobject.View) {
	_, _, all := jobobject.Main(objects)
	for i, o := range objects {
		f.look(o)
		f.checkObject(o, len(objects) == 1)
		if view, _ := jobobject.Of(o); slices.Contains(all, i) {
			job = view
			f.checkJob(view)
			f.checkFits(s, view)
		}
	}
	return job
}

// checkObject validates what every object has, and what every pod: names, labels and annotations, by the rules
// of the API server (k8s.io/apimachinery, pkg/api/validation). alone: --name may give the object's name.
func (f *Faults) checkObject(o map[string]any, alone bool) {
	meta := jobobject.Inner(o, "metadata")
	name, kind := manifest.TextOf(meta["name"]), manifest.TextOf(o["kind"])
	_, isJob := jobobject.Of(o)
	version := manifest.TextOf(o["apiVersion"])
	namespace := version == "v1" && kind == "Namespace"
	what := kind
	if name != MadeUpName {
		what = strings.TrimSpace(kind + " " + manifest.Clip(name))
	}
	switch {
	case version == "apps/v1" && kind == "StatefulSet" && name != "" && !manifest.Unfilled(name) && notNameOf(kind, name) != "":
		f.add("metadata.name", errs.Usagef("%s", notNameOf(kind, name)).Suggest(validName(name)))
	case isJob: // has rules of its own: checkName
	case name == "" && manifest.TextOf(meta["generateName"]) == "" && !alone:
		f.add("metadata.name", errs.Usagef("the %s requires a name", kind))
	case name == "" || manifest.Unfilled(name) || !namespace && !schema.Knows(version, kind):
	case (namespace || kind == "Service") && notNameOf(kind, name) != "":
		f.add("metadata.name", errs.Usagef("%s", notNameOf(kind, name)))
	case manifest.GroupOf(version) == kinds.RBACRole.Group:
		if len(content.IsPathSegmentName(name)) > 0 {
			f.add("metadata.name", errs.Usagef("%s is not a valid name of a %s: it may not be . or .. nor contain / or %%", manifest.QuoteText(name), kind))
		}
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		f.add("metadata.name", errs.Usagef("%s is not a valid name of a %s: use lower-case letters, digits, - and ., with a letter or digit at both ends", manifest.QuoteText(name), kind))
	}
	if ns := manifest.TextOf(meta["namespace"]); ns != "" && !manifest.Unfilled(ns) {
		if why := kinds.NotNamespace(ns); why != "" {
			f.add("metadata.namespace", errs.Usagef("%s: %s", what, why))
		}
	}
	f.checkVersion(version, kind)
	f.checkMeta(what, "metadata", meta)
	f.checkFinalizers(what, version, meta)
	for _, pods := range jobobject.PodTemplates(o) {
		of := cmp.Or(pods.Role, what)
		if pods.At == "" { // the object is the pod
			of = what
			if pod := jobobject.Inner(o, "spec"); pod["nodeName"] != nil && jobobject.Queue(o) != "" {
				f.add("spec.nodeName", errs.Usagef("a pod with a queue cannot set nodeName: it has a scheduling gate until Kueue admits it; use a nodeSelector with kubernetes.io/hostname"))
			}
		}
		f.checkMeta("pods of "+of, manifest.JoinPath(pods.At, "metadata"), jobobject.Inner(pods.Template, "metadata"))
		at, pod := manifest.JoinPath(pods.At, "spec"), jobobject.Inner(pods.Template, "spec")
		f.checkPod(of, at, pod, pods.Inherits)
		f.checkFields(o, at, pod, pods.Inherits)
	}
	f.checkOwn(version, o)
}

// checkMeta validates labels and the names of annotations.
func (f *Faults) checkMeta(what, at string, meta map[string]any) {
	f.checkLabels(what, manifest.JoinPath(at, "labels"), jobobject.Inner(meta, "labels"))
	annotations := jobobject.Inner(meta, "annotations")
	for _, k := range manifest.SortedKeys(annotations) {
		if why := values.NotAnnotation(k); why != "" && !manifest.Unfilled(k) {
			f.add(manifest.JoinPath(manifest.JoinPath(at, "annotations"), k), errs.Usagef("%s: %s", what, why))
		}
	}
}

// checkFinalizers validates the finalizers of an object (ValidateFinalizers of k8s.io/apimachinery; ValidateFinalizerName of
// Kubernetes for its own kinds, which require a domain).
func (f *Faults) checkFinalizers(what, version string, meta map[string]any) {
	list, _ := meta["finalizers"].([]any)
	own := slices.Contains([]string{"v1", "apps/v1", "batch/v1"}, version)
	for i, item := range list {
		name := manifest.TextOf(item)
		at := manifest.Location{Path: "metadata.finalizers"}.Item(i).Path
		standard := slices.Contains([]string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}, name)
		switch {
		case manifest.Unfilled(name):
		case len(validation.IsQualifiedName(name)) > 0:
			f.add(at, errs.Usagef("%s: %s is not a valid finalizer: use a domain and a name, such as example.com/name", what, manifest.QuoteText(name)))
		case own && !standard && !strings.Contains(name, "/"):
			f.add(at, errs.Usagef("%s: finalizer %s requires a domain, such as example.com/%s", what, manifest.QuoteText(name), name))
		}
	}
	if slices.Contains(list, any(metav1.FinalizerOrphanDependents)) && slices.Contains(list, any(metav1.FinalizerDeleteDependents)) {
		f.add("metadata.finalizers", errs.Usagef("%s: the finalizers orphan and foregroundDeletion exclude each other", what))
	}
}

func (f *Faults) checkLabels(what, at string, labels map[string]any) {
	for _, k := range manifest.SortedKeys(labels) {
		value := manifest.TextOf(labels[k])
		if manifest.Unfilled(k) {
			continue
		}
		if why := values.NotLabel(k, value); why != "" && !(manifest.Unfilled(value) && values.NotLabel(k, "") == "") {
			f.add(manifest.JoinPath(at, k), errs.Usagef("%s: %s", what, why))
		}
	}
}

// checkPod validates the containers of a pod, and the node labels that it asks for.
// of is the role or the object whose pod it is.
func (f *Faults) checkPod(of, at string, pod map[string]any, inherits bool) {
	f.checkLabels("nodeSelector of "+of, manifest.JoinPath(at, "nodeSelector"), jobobject.Inner(pod, "nodeSelector"))
	if all, isList := pod["containers"].([]any); len(all) == 0 && (isList || pod["containers"] == nil) {
		f.add(manifest.JoinPath(at, "containers"), errs.Usagef("%s has no containers", of))
	}
	for _, key := range []string{"serviceAccountName", "priorityClassName"} {
		if name := manifest.TextOf(pod[key]); name != "" && !manifest.Unfilled(name) && len(validation.IsDNS1123Subdomain(name)) > 0 {
			f.add(manifest.JoinPath(at, key), errs.Usagef("invalid %s %s of %s: use lower-case letters, digits, - and .", key, manifest.QuoteText(name), of))
		}
	}
	seen := map[string]bool{}
	for _, list := range []string{"initContainers", "containers"} {
		items, _ := pod[list].([]any)
		for i, item := range items {
			path := manifest.Location{Path: manifest.JoinPath(at, list)}.Item(i).Path
			c, isMap := item.(map[string]any)
			if !isMap {
				f.add(path, errs.Usagef("a container of %s is empty", of))
				continue
			}
			name := manifest.TextOf(c["name"])
			switch {
			case manifest.Unfilled(name):
			case name == "":
				f.add(manifest.JoinPath(path, "name"), errs.Usagef("a container of %s requires a name", of))
			case notNameOf("container of "+of, name) != "":
				f.add(manifest.JoinPath(path, "name"), errs.Usagef("%s", notNameOf("container of "+of, name)))
			case seen[name]:
				f.add(manifest.JoinPath(path, "name"), errs.Usagef("two containers of %s are named %s", of, name))
			}
			seen[name] = true
			f.checkContainer(path, list == "containers", inherits, of, c)
		}
	}
}

// checkContainer validates what a container runs and requests. works: it is not an init container.
// inherits: a runtime or the operator has the fields that are not set here.
func (f *Faults) checkContainer(at string, works, inherits bool, of string, c map[string]any) {
	name := manifest.TextOf(c["name"])
	switch image := manifest.TextOf(c["image"]); {
	case image == "" && inherits:
	case image == "":
		e := errs.Usagef("container %s of %s has no image", name, of)
		if works {
			e.Suggest(setting.Image.Option("IMAGE"))
		}
		f.add(manifest.JoinPath(at, "image"), e)
	case values.NotImage(image) != "" && !manifest.Unfilled(image):
		f.add(manifest.JoinPath(at, "image"), errs.Usagef("%s: container %s of %s", values.NotImage(image), name, of).Suggest(setting.Image.Option("REGISTRY/NAME:TAG")))
	}
	policy := manifest.TextOf(c["imagePullPolicy"])
	if c["imagePullPolicy"] != nil && !manifest.Unfilled(policy) && !slices.Contains(values.PullPolicies, policy) {
		f.add(manifest.JoinPath(at, "imagePullPolicy"), errs.Usagef("invalid imagePullPolicy %s: must be %s%s", manifest.QuoteText(policy), manifest.OrList(values.PullPolicies), manifest.DidYouMean(errs.Near(policy, values.PullPolicies))))
	}
	f.checkResources(at, of, c)
}
