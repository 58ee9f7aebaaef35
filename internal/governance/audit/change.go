package audit

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastChange returns who last changed what an object specifies, and when, by its managed
// fields. Managers of the status do not count. "": the object does not say.
func LastChange(fields []metav1.ManagedFieldsEntry) (by string, at time.Time) {
	specified := false
	for _, f := range fields {
		if f.Subresource != "" || f.Time == nil {
			continue
		}
		// An owner of the spec, or of a priority class's value, wins over owners of labels.
		owns := f.FieldsV1 != nil && (strings.Contains(f.FieldsV1.GetRawString(), `"f:spec"`) || strings.Contains(f.FieldsV1.GetRawString(), `"f:value"`))
		if by == "" || owns && !specified || owns == specified && f.Time.After(at) {
			by, at, specified = f.Manager, f.Time.Time, specified || owns
		}
	}
	return by, at
}
