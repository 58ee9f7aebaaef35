package jobs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// OwnerSource says where the name of an owner comes from.
type OwnerSource string

// The sources. A name from the managed fields is inferred: it is the field manager that made
// the job, unless that is the name of a known program.
const (
	FromLabel         OwnerSource = "Label"
	FromAnnotation    OwnerSource = "Annotation"
	FromManagedFields OwnerSource = "ManagedFields"
)

// Creator returns who made an object, as far as its labels and annotations say.
func Creator(labels, annotations map[string]string) string {
	return cmp.Or(labels[kinds.CreatedByLabel], annotations[kinds.CreatedByAnnotation])
}

// OwnerOf returns who made a job and where that is recorded, both "" if it is not known.
func OwnerOf(j state.Job) (string, OwnerSource) {
	switch {
	case j.Labels[kinds.CreatedByLabel] != "":
		return j.Labels[kinds.CreatedByLabel], FromLabel
	case j.Annotations[kinds.CreatedByAnnotation] != "":
		return j.Annotations[kinds.CreatedByAnnotation], FromAnnotation
	case j.Manager != "" && !program(j.Manager):
		return j.Manager, FromManagedFields
	}
	return "", ""
}

// OwnerText returns the owner for people: a ~ before an inferred name, "" for none.
func OwnerText(j state.Job) string {
	name, source := OwnerOf(j)
	if source == FromManagedFields {
		return "~" + name
	}
	return name
}

// programs are parts of the field managers of clients, controllers and tools. A client that
// sets no field manager has the name of its program there (Kubernetes, "Server-Side Apply").
var programs = []string{"kubectl", "hyperpod", "controller", "operator", "manager", "kueue", "client", "unknown", "before-first-apply", "openapi", "swagger",
	"python", "go-http", "curl", "java", "node-fetch", "axios", "mozilla", "helm", "argo", "flux", "terraform", "pulumi", "ansible", "rancher", "k9s", "lens",
	"sagemaker", "kfp", "airflow", "jenkins", "gitlab", "github", "runner", "apiserver", "scheduler"}

func program(manager string) bool {
	lower := strings.ToLower(manager)
	return slices.ContainsFunc(programs, func(p string) bool { return strings.Contains(lower, p) }) || strings.HasSuffix(lower, ".test") || strings.HasSuffix(lower, ".exe")
}
