package audit

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLastChange(t *testing.T) {
	for name, c := range map[string]struct{ fields, by, at string }{
		"no fields":                       {`[]`, "", "0001-01-01T00:00:00Z"},
		"the controller's status is none": {`[{"manager":"kueue","subresource":"status","time":"2026-03-01T00:00:00Z","fieldsV1":{"f:status":{}}},{"manager":"terraform","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{}}}]`, "terraform", "2026-01-01T00:00:00Z"},
		"the latest owner of the spec":    {`[{"manager":"terraform","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:cohort":{}}}},{"manager":"kubectl-edit","time":"2026-02-01T00:00:00Z","fieldsV1":{"f:spec":{"f:preemption":{}}}}]`, "kubectl-edit", "2026-02-01T00:00:00Z"},
		"an owner of labels is not":       {`[{"manager":"terraform","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{}}},{"manager":"labeler","time":"2026-02-01T00:00:00Z","fieldsV1":{"f:metadata":{"f:labels":{}}}}]`, "terraform", "2026-01-01T00:00:00Z"},
		"the value of a priority class":   {`[{"manager":"labeler","time":"2026-02-01T00:00:00Z","fieldsV1":{"f:metadata":{}}},{"manager":"kubectl-patch","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:value":{}}}]`, "kubectl-patch", "2026-01-01T00:00:00Z"},
		"only an owner of labels":         {`[{"manager":"labeler","time":"2026-02-01T00:00:00Z","fieldsV1":{"f:metadata":{}}}]`, "labeler", "2026-02-01T00:00:00Z"},
	} {
		var fields []metav1.ManagedFieldsEntry
		if err := json.Unmarshal([]byte(c.fields), &fields); err != nil {
			t.Fatal(err)
		}
		if by, at := LastChange(fields); by != c.by || at.UTC().Format("2006-01-02T15:04:05Z") != c.at {
			t.Errorf("%s: %s at %s", name, by, at)
		}
	}
}
