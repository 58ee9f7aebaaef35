package validate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/podrules"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// checkFields validates the fields of a pod by the rules of the API server. A pod that the job's operator makes of fields of
// its own has no fields of a pod in the manifest.
func (f *Faults) checkFields(o map[string]any, at string, pod map[string]any, inherits bool) {
	volumes := podrules.ClaimVolumes(o)
	if j, isJob := jobobject.Of(o); isJob {
		if j.Kind.Form != nil {
			return
		}
		volumes = slices.Concat(volumes, j.Kind.Volumes)
	}
	options := podrules.Options{Volumes: volumes, Open: manifest.Unfilled, Partial: inherits}
	for _, fault := range podrules.Check(pod, options) {
		if !compares(fault) && fault.Path[len(fault.Path)-1] != "nodeSelector" { // checkResources and checkPod have the words for them
			f.refuse(at, fault)
		}
	}
}

// ownVersions are the versions of Kubernetes' own kinds that make pods.
var ownVersions = map[string]string{"Pod": "v1", "Deployment": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "ReplicaSet": "apps/v1",
	"Job": "batch/v1", "CronJob": "batch/v1"}

// checkVersion refuses versions and groups in which Kubernetes no longer has a kind, or never had.
func (f *Faults) checkVersion(version, kind string) {
	want, known := ownVersions[kind]
	group := manifest.GroupOf(version)
	if wrapper := kinds.AppWrapper; kind == wrapper.Kind && group == wrapper.Group && version != wrapper.GroupVersion() {
		f.add("apiVersion", errs.Usagef("%s has no %s: use %s", manifest.QuoteText(version), kind, wrapper.GroupVersion()))
	}
	if kind == "Kustomization" && group == "kustomize.config.k8s.io" {
		f.add("kind", errs.Usagef("a Kustomization belongs to kustomize, which this program does not run; render it with its own tool first"))
	}
	if known && version != "" && version != want && slices.Contains([]string{"", "apps", "batch", "extensions"}, group) {
		f.add("apiVersion", errs.Usagef("%s has no %s: use %s", manifest.QuoteText(version), kind, want))
	}
}

// checkCronJob validates the restart policy of the pods of a CronJob, which nothing fills in.
func (f *Faults) checkCronJob(o map[string]any) {
	const at = "spec.jobTemplate.spec.template.spec"
	pod := jobobject.Inner(o, strings.Split(at, ".")...)
	if pod == nil {
		return
	}
	switch policy := manifest.TextOf(pod["restartPolicy"]); {
	case policy == "":
		f.add(manifest.JoinPath(at, "restartPolicy"), errs.Usagef("the pods of the CronJob require a restartPolicy: Never or OnFailure"))
	case policy == "Always":
		f.add(manifest.JoinPath(at, "restartPolicy"), errs.Usagef("invalid restart policy %q of a CronJob: must be OnFailure or Never", policy))
	}
}

// checkOwn validates what Kubernetes' own kinds have besides their pods.
func (f *Faults) checkOwn(version string, o map[string]any) {
	spec := jobobject.Inner(o, "spec")
	own := func(at string, faults []podrules.Fault) {
		for _, fault := range faults {
			f.refuse(at, fault)
		}
	}
	switch version + " " + manifest.TextOf(o["kind"]) {
	case "apps/v1 Deployment", "apps/v1 StatefulSet":
		own("spec", podrules.Serving(spec, manifest.Unfilled))
	case "batch/v1 Job":
		own("spec", podrules.Job(spec, manifest.Unfilled))
		own("spec", podrules.Selector(spec, manifest.Unfilled))
	case "batch/v1 CronJob":
		own("spec", podrules.CronJob(spec, manifest.Unfilled))
		if name := manifest.TextOf(jobobject.Inner(o, "metadata")["name"]); !manifest.Unfilled(name) && podrules.CronJobName(name) != "" {
			f.add("metadata.name", errs.Usagef("invalid name %s of a CronJob: %s", manifest.QuoteText(name), podrules.CronJobName(name)))
		}
		own("spec.jobTemplate.spec", podrules.Job(jobobject.Inner(spec, "jobTemplate", "spec"), manifest.Unfilled))
		f.checkCronJob(o)
	}
	if _, isJob := jobobject.Of(o); isJob {
		if queue := jobobject.Queue(o); queue != "" && !manifest.Unfilled(queue) && len(validation.IsDNS1123Subdomain(queue)) > 0 {
			f.add(manifest.JoinPath("metadata.labels", kinds.QueueLabel), errs.Usagef("%s is not a valid name of a queue: use lower-case letters, digits, - and ., with a letter or digit at both ends", manifest.QuoteText(queue)))
		}
	}
}

// refuse adds a fault of a field that has no words of its own.
func (f *Faults) refuse(at string, fault podrules.Fault) {
	unless := []string{Below}
	if fault.Type == field.ErrorTypeNotFound {
		unless = append(unless, manifest.JoinPath(at, "volumes"), manifest.JoinPath(at, "resourceClaims"))
	}
	if fault.Type == field.ErrorTypeRequired && f.has(fieldAt(at, fault.Path[:len(fault.Path)-1])) {
		return // the fault above says that something is missing
	}
	at = fieldAt(at, fault.Path)
	if n, steps := len(fault.Path), fault.Path; n > 2 && steps[n-1] == "replicas" && steps[0] == "spec" && fault.Type == field.ErrorTypeInvalid {
		if count, ok := manifest.Count(fault.Value); ok {
			f.add(at, errs.Usagef("invalid replicas %d of %v: %s", count, steps[n-2], fault.Detail), unless...)
			return
		}
	}
	f.add(at, errs.Usagef("%s %s", at, refusal(fault)), unless...)
}

// fieldAt returns the path that leads on from another one.
func fieldAt(at string, steps []any) string {
	for _, step := range steps {
		switch s := step.(type) {
		case string:
			at = manifest.JoinPath(at, s)
		case int:
			at = manifest.Location{Path: at}.Item(s).Path
		}
	}
	return at
}

// reason shortens a reason of the API server. Those about names have an expression and examples.
func reason(detail string) string {
	switch {
	case strings.Contains(detail, "RFC 1123 subdomain"):
		return "use lower-case letters, digits, - and ., with a letter or digit at both ends"
	case strings.Contains(detail, "RFC 1123 label"):
		return "use at most 63 lower-case letters, digits and -, with a letter or digit at both ends"
	}
	if strings.Contains(detail, "DNS-1035 label") {
		return "use at most 63 lower-case letters, digits and -, with a letter first and a letter or digit last"
	}
	detail, _, _ = strings.Cut(detail, " (e.g.")
	return strings.TrimSuffix(strings.ReplaceAll(detail, "`", ""), ",")
}

// compares reports whether a fault is about a request and its limit.
func compares(fault podrules.Fault) bool {
	return fault.Type == field.ErrorTypeInvalid && fault.Path[len(fault.Path)-1] == "requests"
}

// refusal says what is wrong with the value at a path.
func refusal(fault podrules.Fault) string {
	detail, last := reason(fault.Detail), fault.Path[len(fault.Path)-1]
	value := ""
	switch fault.Value.(type) {
	case nil, map[string]any, []any, bool:
	default:
		if text := fmt.Sprint(fault.Value); text != "" {
			value = "is " + manifest.QuoteText(text) + ": "
		}
	}
	switch {
	case last == "port" && fault.Value == int64(0):
		return "is missing"
	case last == "limits" && fault.Type == field.ErrorTypeRequired:
		return "is missing: devices and huge pages require a limit that equals the request"
	case strings.HasSuffix(detail, "handler type") && fault.Type == field.ErrorTypeRequired:
		return "has no handler, such as exec or httpGet"
	case fault.Type == field.ErrorTypeRequired && detail == "":
		return "is missing"
	case fault.Type == field.ErrorTypeRequired:
		return "is missing: " + detail
	case fault.Type == field.ErrorTypeDuplicate:
		if last, isKey := last.(string); isKey && !strings.HasSuffix(strings.ToLower(last), "name") {
			return value + "this " + last + " is given twice"
		}
		return value + "this name is given twice"
	case fault.Type == field.ErrorTypeNotFound:
		if slices.Contains(fault.Path, any("volumeMounts")) {
			return value + "the pod has no volume of this name"
		}
		return value + "the pod has no claim of this name"
	case fault.Type == field.ErrorTypeNotSupported:
		found, _ := fault.Value.(string)
		return value + "must be " + manifest.OrList(fault.Allowed) + manifest.DidYouMean(errs.Near(found, fault.Allowed))
	case last == "selector" && strings.HasSuffix(detail, "not auto-generated"):
		return "is invalid: not auto-generated; remove it, or set manualSelector: true"
	case fault.Type == field.ErrorTypeForbidden:
		return "is refused: " + detail
	case value == "":
		return "is invalid: " + detail
	}
	return value + detail
}
