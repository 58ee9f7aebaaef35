package state

import (
	"bytes"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// stamp is a time in an object. A value that is not a time becomes the zero time: one invalid field must not
// hide an object.
type stamp struct{ time.Time }

func (s *stamp) UnmarshalJSON(b []byte) error {
	if len(b) < 2 || b[0] != '"' {
		return nil
	}
	t, err := time.Parse(time.RFC3339, string(b[1:len(b)-1]))
	if err == nil {
		s.Time = t.UTC()
	}
	return nil
}

// ptr returns nil for the zero time.
func (s stamp) ptr() *time.Time {
	if s.IsZero() {
		return nil
	}
	t := s.Time
	return &t
}

// amount is a quantity as it is written: a string, a number, or null in
// manifests that were filled in badly.
type amount string

func (a *amount) UnmarshalJSON(b []byte) error {
	b = bytes.Trim(b, `"`)
	if !bytes.Equal(b, []byte("null")) {
		*a = amount(b)
	}
	return nil
}

// value returns the amount in the unit of Amounts.
func (a amount) value(name string) (int64, bool) {
	if n, err := strconv.ParseInt(string(a), 10, 64); err == nil {
		if name == "cpu" {
			return n * 1000, true
		}
		return n, true
	}
	q, err := resource.ParseQuantity(string(a))
	if err != nil {
		return 0, false
	}
	if name == "cpu" {
		return q.MilliValue(), true
	}
	return q.Value(), true
}

// Amount parses a quantity into the unit that Amounts has for the resource.
func Amount(resourceName, quantity string) (int64, bool) {
	return amount(quantity).value(resourceName)
}

// whole is a number that may be missing, null or of another type.
type whole int64

func (w *whole) UnmarshalJSON(b []byte) error {
	if n, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64); err == nil {
		*w = whole(n)
	}
	return nil
}

func (w *whole) or(n int64) int64 {
	if w == nil {
		return n
	}
	return int64(*w)
}

type wireMeta struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	Generation        int64             `json:"generation"`
	CreationTimestamp stamp             `json:"creationTimestamp"`
	DeletionTimestamp stamp             `json:"deletionTimestamp"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	OwnerReferences   []Owner           `json:"ownerReferences"`
}

func (m wireMeta) meta() Meta {
	delete(m.Annotations, lastApplied)
	return Meta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp.Time, DeletionTimestamp: m.DeletionTimestamp.ptr(),
		Labels: m.Labels, Annotations: m.Annotations, Owners: m.OwnerReferences,
	}
}

// lastApplied is kubectl's copy of the whole manifest, environment included:
// large, and nothing to keep.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

type wireCondition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	Reason             string `json:"reason"`
	Message            string `json:"message"`
	LastTransitionTime stamp  `json:"lastTransitionTime"`
	// LastUpdateTime is what older operators set instead.
	LastUpdateTime stamp `json:"lastUpdateTime"`
}

func conditions(in []wireCondition) []Condition {
	if len(in) == 0 {
		return nil
	}
	out := make([]Condition, len(in))
	for i, c := range in {
		out[i] = Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, LastTransitionTime: c.LastTransitionTime.Time}
		if c.LastTransitionTime.IsZero() {
			out[i].LastTransitionTime = c.LastUpdateTime.Time
		}
	}
	return out
}

type wireResources struct {
	Requests map[string]amount `json:"requests"`
	Limits   map[string]amount `json:"limits"`
}

type wireContainer struct {
	Name          string        `json:"name"`
	Resources     wireResources `json:"resources"`
	RestartPolicy string        `json:"restartPolicy"`
}

type wirePodSpec struct {
	PriorityClassName string            `json:"priorityClassName"`
	NodeSelector      map[string]string `json:"nodeSelector"`
	Containers        []wireContainer   `json:"containers"`
	InitContainers    []wireContainer   `json:"initContainers"`
	Overhead          map[string]amount `json:"overhead"`
}

// requests returns what a container asks for; a limit stands in for a request
// that is not given, as the API server has it.
func (c wireContainer) requests(keep func(string) bool) Amounts {
	var out Amounts
	add := func(name string, a amount) {
		if keep != nil && !keep(name) {
			return
		}
		if n, ok := a.value(name); ok {
			if out == nil {
				out = Amounts{}
			}
			out[name] = n
		}
	}
	for name, a := range c.Resources.Limits {
		add(name, a)
	}
	for name, a := range c.Resources.Requests {
		add(name, a)
	}
	return out
}

// requests returns what one pod asks for: the sum of its containers and
// sidecars, or the largest init container with the sidecars before it.
func (s wirePodSpec) requests(keep func(string) bool) Amounts {
	total, peak := Amounts{}, Amounts{}
	sidecars := Amounts{}
	for _, c := range s.InitContainers {
		r := c.requests(keep)
		if c.RestartPolicy == "Always" {
			plus(sidecars, r)
			r = nil
		}
		for name := range merged(sidecars, r) {
			peak[name] = max(peak[name], sidecars[name]+r[name])
		}
	}
	for _, c := range s.Containers {
		plus(total, c.requests(keep))
	}
	plus(total, sidecars)
	for name, n := range peak {
		total[name] = max(total[name], n)
	}
	plus(total, wireContainer{Resources: wireResources{Requests: s.Overhead}}.requests(keep))
	return total
}

func plus(to, add Amounts) {
	for name, n := range add {
		to[name] += n
	}
}

func merged(a, b Amounts) Amounts {
	out := Amounts{}
	plus(out, a)
	plus(out, b)
	return out
}
