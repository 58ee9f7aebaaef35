package api

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	names "k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/json"

	"github.com/hyperpod-cli/hyperpod/internal/jobrules"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/podrules"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/crd"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/limits"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

func apiUID(s string) types.UID { return types.UID(s) }

// checkTypes decodes an object into the Go type of its kind. It refuses values of the
// wrong type and, with fieldValidation=Strict, unknown fields. Otherwise it returns
// warnings about unknown fields.
func (s *Server) checkTypes(c *call, m map[string]any) ([]string, error) {
	empty := c.res.builtin
	if empty == nil {
		empty = c.res.schema
	}
	if empty == nil {
		return nil, nil
	}
	raw, err := store.Encode(m)
	if err != nil {
		return nil, err
	}
	strict, err := json.UnmarshalStrict(raw, empty())
	switch {
	case err != nil && c.res.Group == kinds.KueueGroup && len(crd.Validate(c.res.Kind, m, nil)) > 0:
		return nil, apierrors.NewInvalid(c.res.groupKind(), object.Text(m, "metadata", "name"), crd.Validate(c.res.Kind, m, nil))
	case err != nil && c.res.builtin == nil:
		return nil, apierrors.NewInvalid(c.res.groupKind(), object.Text(m, "metadata", "name"),
			field.ErrorList{field.Invalid(wrongField(err), field.OmitValueType{}, err.Error())})
	case err != nil:
		return nil, badRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", c.res.Kind, c.res.Version, c.res.Kind, err))
	}
	if len(strict) == 0 {
		return nil, nil
	}
	switch c.URL.Query().Get("fieldValidation") {
	case metav1.FieldValidationStrict:
		return nil, badRequest(runtime.NewStrictDecodingError(strict).Error())
	case metav1.FieldValidationIgnore:
		return nil, nil
	}
	var warnings []string
	for _, e := range strict {
		warnings = append(warnings, e.Error())
	}
	return warnings, nil
}

// wrongField returns the field of a decoding error.
func wrongField(err error) *field.Path {
	var wrong *stdjson.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return field.NewPath(wrong.Field)
	}
	return field.NewPath("spec")
}

// validate checks what every API server checks for a kind: names, labels, annotations,
// owner references, and the required fields of pods and jobs. changed: the object is new, or more than its metadata and status
// changes; the definitions of job kinds and the webhooks of their operators are only about these.
func validate(r *resource, m map[string]any, changed bool) error {
	raw, err := store.Encode(m["metadata"])
	if err != nil {
		return err
	}
	var meta metav1.ObjectMeta
	if err := json.UnmarshalCaseSensitivePreserveInts(raw, &meta); err != nil {
		return badRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", r.Kind, r.Version, r.Kind, err))
	}
	all := validation.ValidateObjectMeta(&meta, r.Namespaced, nameRule(r), field.NewPath("metadata"))
	switch r.Kind {
	case "Pod":
		all = append(all, validatePodSpec(m["spec"], field.NewPath("spec"))...)
		if object.Text(m, "spec", "nodeName") != "" && len(object.List(m, "spec", "schedulingGates")) > 0 {
			all = append(all, field.Forbidden(field.NewPath("spec", "nodeName"), "cannot be set until all schedulingGates have been cleared"))
		}
	case "Job":
		all = append(all, validateBatchJob(m, field.NewPath("spec"))...)
	case "CronJob":
		for _, fault := range podrules.CronJob(object.Map(m, "spec"), nil) {
			all = append(all, fault.Error(field.NewPath("spec")))
		}
		if why := podrules.CronJobName(meta.Name); why != "" {
			all = append(all, field.Invalid(field.NewPath("metadata", "name"), meta.Name, why))
		}
		all = append(all, validateBatchJob(object.Map(m, "spec", "jobTemplate"), field.NewPath("spec", "jobTemplate", "spec"))...)
	case "Deployment", "StatefulSet":
		all = append(all, validateServing(m)...)
	default:
		all = append(all, validateJob(r, m, changed)...)
	}
	if len(all) == 0 {
		return nil
	}
	return apierrors.NewInvalid(r.groupKind(), meta.Name, all)
}

func nameRule(r *resource) validation.ValidateNameFunc {
	switch r.Kind {
	case "Namespace":
		return validation.ValidateNamespaceName
	case "Service":
		return validation.NameIsDNS1035Label
	case "StatefulSet":
		return validation.NameIsDNSLabel
	case "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding":
		return isPathSegment
	}
	return validation.NameIsDNSSubdomain
}

// isPathSegment is the rule for names of RBAC objects, such as system:node (ValidateRBACName of Kubernetes). prefix is set for a
// generateName.
func isPathSegment(name string, prefix bool) []string {
	if prefix {
		return names.IsPathSegmentPrefix(name)
	}
	return names.IsPathSegmentName(name)
}

// validateJob checks what the definitions of the job kinds and the webhooks of their operators require, the fields with the
// roles, and containers in every pod template.
func validateJob(r *resource, m map[string]any, changed bool) field.ErrorList {
	j, ok := kinds.JobFor(r.GroupVersion(), r.Kind)
	if !ok {
		return nil
	}
	var all field.ErrorList
	if changed {
		for _, fault := range jobrules.ServerFaults(j, m, nil) {
			all = append(all, fault.Error(nil))
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, role := range j.Roles {
		top := role.Path[:min(2, len(role.Path))] // spec.xReplicaSpecs
		if r.Group == "kubeflow.org" && object.At(m, top...) == nil {
			all = append(all, field.Required(field.NewPath(top[0], top[1:]...), ""))
		}
	}
	for _, p := range j.Parts(m) {
		if object.At(p.Template, "spec", "containers") == nil {
			all = append(all, field.Required(field.NewPath("spec").Key(p.Name).Child("template", "spec", "containers"), ""))
		}
	}
	return all
}

func validateBatchJob(m map[string]any, at *field.Path) field.ErrorList {
	template := at.Child("template", "spec")
	all := validatePodSpec(object.At(m, "spec", "template", "spec"), template)
	switch policy := object.Text(m, "spec", "template", "spec", "restartPolicy"); policy {
	case "Never", "OnFailure":
	case "":
		all = append(all, field.Required(template.Child("restartPolicy"), `valid values: "OnFailure", "Never"`))
	default:
		all = append(all, field.NotSupported(template.Child("restartPolicy"), policy, []string{"OnFailure", "Never"}))
	}
	for _, fault := range append(podrules.Job(object.Map(m, "spec"), nil), podrules.Selector(object.Map(m, "spec"), nil)...) {
		all = append(all, fault.Error(at))
	}
	return all
}

// immutable refuses changes of immutable fields.
func immutable(r *resource, old, m map[string]any) error {
	var path *field.Path
	var value any
	differ := func(names ...string) {
		if path == nil && !reflect.DeepEqual(object.At(old, names...), object.At(m, names...)) {
			path, value = field.NewPath(names[0], names[1:]...), object.At(m, names...)
		}
	}
	switch r.Kind {
	case "Job":
		differ("spec", "completionMode")
		differ("spec", "selector")
		if suspended, _ := object.At(old, "spec", "suspend").(bool); !suspended {
			differ("spec", "template")
		}
	case "PriorityClass":
		differ("value")
	case "PersistentVolumeClaim":
		differ("spec", "accessModes")
	case "RoleBinding", "ClusterRoleBinding":
		if differ("roleRef"); path != nil {
			return apierrors.NewInvalid(r.groupKind(), object.Text(m, "metadata", "name"), field.ErrorList{field.Invalid(path, value, "cannot change roleRef")})
		}
	}
	if path == nil {
		return nil
	}
	return apierrors.NewInvalid(r.groupKind(), object.Text(m, "metadata", "name"), field.ErrorList{field.Invalid(path, value, "field is immutable")})
}

// setDefaults sets the defaults of the API server or of a CRD's schema.
func setDefaults(r *resource, m map[string]any) {
	if r.Group == kinds.KueueGroup {
		crd.Default(r.Kind, m)
	}
	switch r.FullName() {
	case "namespaces":
		object.Child(object.Child(m, "metadata"), "labels")["kubernetes.io/metadata.name"] = object.Text(m, "metadata", "name")
		defaults(object.Child(m, "spec"), "finalizers", []any{"kubernetes"})
		defaults(object.Child(m, "status"), "phase", "Active")
	case "pods":
		spec := object.Child(m, "spec")
		podDefaults(spec, "Always")
		defaults(object.Child(m, "status"), "phase", "Pending")
	case "nodes":
		status := object.Child(m, "status")
		if status["allocatable"] == nil && status["capacity"] != nil {
			status["allocatable"] = store.CopyMap(status)["capacity"]
		}
		for _, c := range object.List(status, "conditions") {
			if c := object.Map(c); c != nil {
				defaults(c, "lastTransitionTime", object.Text(m, "metadata", "creationTimestamp"))
				defaults(c, "lastHeartbeatTime", object.Text(m, "metadata", "creationTimestamp"))
			}
		}
	case "limitranges":
		limits.CompleteRange(m)
	case "jobs.batch":
		batchDefaults(m)
	case "workloads.kueue.x-k8s.io":
		defaults(object.Child(m, "spec"), "active", true)
	}
}

// ungoverned returns a warning for work without a queue in a team's namespace. A cluster
// with task governance refuses it.
func ungoverned(st *store.Store, r *resource, m map[string]any) []string {
	_, isJob := kinds.JobFor(r.GroupVersion(), r.Kind)
	ns := st.Get("namespaces", "", object.Text(m, "metadata", "namespace"))
	if !isJob && r.Kind != "Pod" || ns == nil || ns.Labels[kinds.ManagedQueueLabel] != "true" ||
		ns.Labels["sagemaker.amazonaws.com/activate-quota"] != "Enabled" || object.Text(m, "metadata", "labels", kinds.QueueLabel) != "" {
		return nil
	}
	return []string{"a cluster with task governance refuses this: The label '" + kinds.QueueLabel + "' is either missing or does not have a value set."}
}

func defaults(m map[string]any, key string, value any) {
	if m[key] == nil {
		m[key] = value
	}
}

func podDefaults(spec map[string]any, restart string) {
	defaults(spec, "restartPolicy", restart)
	defaults(spec, "dnsPolicy", "ClusterFirst")
	defaults(spec, "schedulerName", "default-scheduler")
	defaults(spec, "terminationGracePeriodSeconds", int64(30))
	defaults(spec, "securityContext", map[string]any{})
	if spec["restartPolicy"] == "" {
		delete(spec, "restartPolicy")
	}
}

func batchDefaults(m map[string]any) {
	spec := object.Child(m, "spec")
	if spec["completions"] == nil && spec["parallelism"] == nil {
		spec["completions"] = int64(1)
	}
	defaults(spec, "parallelism", int64(1))
	defaults(spec, "backoffLimit", int64(6))
	defaults(spec, "completionMode", "NonIndexed")
	defaults(spec, "suspend", false)
	defaults(spec, "podReplacementPolicy", "TerminatingOrFailed")
	uid, name := object.Text(m, "metadata", "uid"), object.Text(m, "metadata", "name")
	if manual, _ := spec["manualSelector"].(bool); !manual {
		labels := object.Child(object.Child(object.Child(spec, "template"), "metadata"), "labels")
		for k, v := range map[string]string{"controller-uid": uid, "batch.kubernetes.io/controller-uid": uid, "job-name": name, "batch.kubernetes.io/job-name": name} {
			labels[k] = v
		}
		defaults(spec, "selector", map[string]any{"matchLabels": map[string]any{"batch.kubernetes.io/controller-uid": uid}})
	}
	if template, ok := object.At(spec, "template", "spec").(map[string]any); ok {
		podDefaults(template, "")
	}
}
