package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/api"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// tables are the objects in the API server's form. They are made kind by kind on demand, because most commands
// read few kinds.
type tables struct {
	mu       sync.Mutex
	made     map[string]*store.Store
	released bool
}

// Release frees the memory of the objects, for a command that has read what it needs. Every
// later request fails; the counts stay.
func (s *Snapshot) Release() {
	s.tables.mu.Lock()
	defer s.tables.mu.Unlock()
	s.counts = map[string]int{}
	for name, list := range s.raw {
		s.counts[name] = len(list)
	}
	s.tables.made, s.tables.released, s.raw = nil, true, nil
}

var errReleased = errors.New("the objects of the snapshot were released")

// store returns the objects of one kind.
func (s *Snapshot) store(resource string) (*store.Store, error) {
	t := &s.tables
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.released {
		return nil, errReleased
	}
	if st := t.made[resource]; st != nil {
		return st, nil
	}
	st := store.New()
	if err := st.Load(max(s.Info.ResourceVersion, 1), map[string][]json.RawMessage{resource: s.raw[resource]}); err != nil {
		return nil, damaged(nil, err)
	}
	if t.made == nil {
		t.made = map[string]*store.Store{}
	}
	t.made[resource] = st
	return st, nil
}

// Handler returns the snapshot as a read-only API. It refuses what could not be read when the snapshot was
// taken, like the cluster did.
func (s *Snapshot) Handler() http.Handler {
	return &handler{s: s, api: api.NewServer(backend{s})}
}

type handler struct {
	s   *Snapshot
	api http.Handler
}

// resourceKey carries the kind that a request is about.
type resourceKey struct{}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := parseRequest(r)
	if refusal := h.refuse(r, q); refusal != nil {
		writeStatus(w, refusal)
		return
	}
	resource := q.resource()
	if _, err := h.s.store(resource); err != nil {
		writeStatus(w, status(http.StatusInternalServerError, kube.OwnWords, "the snapshot is damaged: its "+resource+" cannot be read"))
		return
	}
	h.api.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), resourceKey{}, resource)))
}

// request is the part of a path that decides here.
type request struct {
	group, namespace, plural, name, sub string
	groupOnly                           bool // discovery of a group
}

func (q request) resource() string {
	if q.group == "" || q.plural == "" {
		return q.plural
	}
	return q.plural + "." + q.group
}

func parseRequest(r *http.Request) request {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var q request
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		q.group, parts = parts[1], parts[3:]
	case parts[0] == "apis" && len(parts) > 1:
		return request{group: parts[1], groupOnly: true}
	default:
		return q
	}
	if parts[0] == "namespaces" && len(parts) >= 3 {
		q.namespace, parts = parts[1], parts[2:]
	}
	for i, to := range []*string{&q.plural, &q.name, &q.sub} {
		if i < len(parts) {
			*to = parts[i]
		}
	}
	return q
}

// refuse returns the answer to what a snapshot cannot do; nil when it can.
func (h *handler) refuse(r *http.Request, q request) *metav1.Status {
	if q.groupOnly {
		if h.absent(q.group) {
			return status(http.StatusNotFound, metav1.StatusReasonNotFound, "404 page not found")
		}
		return nil
	}
	resource := q.resource()
	if resource == "" || strings.HasPrefix(q.plural, "selfsubject") {
		return nil
	}
	what := resource
	if q.name != "" {
		what += " " + q.name
	}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return status(http.StatusMethodNotAllowed, kube.OwnWords, "a snapshot can only be read: "+what+" cannot be changed")
	case q.sub != "" && q.sub != "status":
		return status(http.StatusMethodNotAllowed, kube.OwnWords, "a snapshot holds no "+q.sub+" of "+what)
	case r.URL.Query().Get("watch") == "true" || r.URL.Query().Get("watch") == "1":
		return status(http.StatusMethodNotAllowed, kube.OwnWords, "a snapshot does not change: there is nothing to watch")
	}
	m, lacking := h.s.lacks(resource, q.namespace)
	if !lacking && h.s.Plain && q.namespace == managerNamespace && isManager(resource, q.name) && len(h.s.raw[resource]) == 0 {
		// What a file of plain objects does not have, a cluster may.
		m, lacking = Missing{Resource: resource, Namespace: q.namespace, Reason: NotInFile}, true
	}
	if !lacking {
		return nil
	}
	if m.Reason == NotServed {
		return status(http.StatusNotFound, metav1.StatusReasonNotFound, "404 page not found")
	}
	if q.name != "" {
		if st, err := h.s.store(resource); err == nil && st.Get(resource, q.namespace, q.name) != nil {
			return nil
		}
	}
	return m.refusal()
}

// lacks reports whether a kind could not be read in a namespace ("" = all).
func (s *Snapshot) lacks(resource, namespace string) (Missing, bool) {
	for _, m := range s.Info.Missing {
		if m.Resource != resource || m.Namespace != "" && m.Namespace != namespace {
			continue
		}
		if m.Namespace == "" && namespace != "" && m.Reason == Forbidden && s.read(resource, namespace) {
			continue // not all namespaces, but this one
		}
		return m, true
	}
	if r := s.Info.Scope; r != "" && namespace != r && namespaced(resource) {
		return Missing{Resource: resource, Namespace: namespace, Reason: NotCaptured}, true
	}
	if counts(resource) && !s.Info.Devices && len(s.raw[resource]) == 0 {
		return Missing{Resource: resource, Reason: NotInFile}, true
	}
	return Missing{}, false
}

// read reports whether a kind was read in one namespace after all were refused.
func (s *Snapshot) read(resource, namespace string) bool {
	return slices.Contains(s.Info.Namespaces, namespace) && !slices.ContainsFunc(s.Info.Missing, func(m Missing) bool {
		return m.Resource == resource && m.Namespace == namespace
	})
}

func namespaced(resource string) bool {
	return slices.ContainsFunc(kinds.All(), func(r kinds.Resource) bool { return r.Namespaced && r.FullName() == resource })
}

// refusal returns the answer to a request for what is missing: as the cluster would
// have refused what there was no permission for, or failed where it did.
func (m Missing) refusal() *metav1.Status {
	switch m.Reason {
	case NotInFile:
		return status(http.StatusForbidden, kube.NotInFile, m.words())
	case NotCaptured:
		return status(http.StatusForbidden, kube.NotCaptured, m.words())
	case Failed:
		return status(http.StatusInternalServerError, kube.OwnWords, m.words())
	}
	return status(http.StatusForbidden, kube.OwnWords, m.words())
}

// words say why something is not in the snapshot.
func (m Missing) words() string {
	what := m.Resource
	if m.Namespace != "" {
		what += " of namespace " + m.Namespace
	}
	switch m.Reason {
	case Forbidden:
		return "the snapshot has no " + what + ": its creator had no permission to read them"
	case NotInFile:
		return "the file has no " + what
	case NotCaptured:
		return "the snapshot has no " + what + ": it is of one namespace only"
	}
	return "the snapshot has no " + what + ": reading them failed when it was taken"
}

// absent reports an API group without a kind in the cluster.
func (h *handler) absent(group string) bool {
	all := 0
	for _, r := range captured() {
		if r.Group != group {
			continue
		}
		all++
		if m, ok := h.s.lacks(r.FullName(), ""); !ok || m.Reason != NotServed {
			return false
		}
	}
	return all > 0
}

func status(code int, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message,
	}
}

func writeStatus(w http.ResponseWriter, s *metav1.Status) {
	body, err := json.Marshal(s)
	if err != nil {
		http.Error(w, s.Message, int(s.Code))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(s.Code))
	_, _ = w.Write(body)
}

// backend is the snapshot as the API server sees it.
type backend struct{ s *Snapshot }

func (b backend) Now() time.Time { return b.s.Info.Taken }

func (b backend) View(ctx context.Context, f func(*store.Store) error) error {
	resource, _ := ctx.Value(resourceKey{}).(string)
	st, err := b.s.store(resource)
	if err != nil {
		return err
	}
	return f(st)
}

// Update is not reached: changes are refused before.
func (backend) Update(context.Context, bool, func(*store.Store) error) ([]string, error) {
	return nil, unusable("a snapshot can only be read")
}

// Wait is not reached either; nothing ever happens in a snapshot.
func (backend) Wait(ctx context.Context, _ int64) error {
	<-ctx.Done()
	return ctx.Err()
}
