package team

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// server keeps ConfigMaps of one namespace, as an API server does. forbidden
// names methods that are refused; "LIST" is a GET of all.
type server struct {
	mu        sync.Mutex
	maps      map[string]map[string]any
	forbidden string
	requests  int
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/team/configmaps"), "/")
	verb := r.Method
	if verb == "GET" && name == "" {
		verb = "LIST"
	}
	answer := func(code int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}
	refuse := func(code int, reason string) {
		answer(code, map[string]any{"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": reason})
	}
	var body map[string]any
	if data, _ := io.ReadAll(r.Body); len(data) > 0 {
		_ = json.Unmarshal(data, &body)
	}
	switch {
	case strings.Contains(s.forbidden, verb):
		refuse(403, "Forbidden")
	case verb == "LIST":
		items := []any{}
		for _, m := range s.maps {
			meta := m["metadata"].(map[string]any)
			if labels, _ := meta["labels"].(map[string]any); labels[kinds.TemplateLabel] != nil {
				items = append(items, m)
			}
		}
		answer(200, map[string]any{"kind": "ConfigMapList", "apiVersion": "v1", "metadata": map[string]any{}, "items": items})
	case verb == "POST":
		name = body["metadata"].(map[string]any)["name"].(string)
		if s.maps[name] != nil {
			refuse(409, "AlreadyExists")
			return
		}
		s.maps[name] = body
		answer(201, body)
	case s.maps[name] == nil:
		refuse(404, "NotFound")
	case verb == "PUT":
		s.maps[name] = body
		answer(200, body)
	default:
		answer(200, s.maps[name])
	}
}

func start(t *testing.T, maps map[string]map[string]any) (*server, *kube.Client) {
	t.Helper()
	s := &server{maps: map[string]map[string]any{}}
	for name, m := range maps {
		m["metadata"] = merge(map[string]any{"name": name, "labels": map[string]any{kinds.TemplateLabel: "true"}}, m["metadata"])
		s.maps[name] = m
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	c, err := kube.New(&rest.Config{Host: h.URL}, kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func merge(m map[string]any, more any) map[string]any {
	extra, _ := more.(map[string]any)
	for k, v := range extra {
		m[k] = v
	}
	return m
}

const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, image: $IMAGE}]}\n"

func data(kv ...string) map[string]any {
	d := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		d[kv[i]] = kv[i+1]
	}
	return map[string]any{"data": d}
}

func TestGet(t *testing.T) {
	binary := map[string]any{"binaryData": map[string]any{"t": base64.StdEncoding.EncodeToString([]byte("\xff\xfe"))}}
	s, c := start(t, map[string]map[string]any{
		"plain":   data(Key, pod),
		"any-key": data("train.yml", pod),
		"two":     data("a", pod, "b", pod),
		"chosen":  data("README", "hello", Key, pod),
		"binary":  binary,
		"empty":   data(),
		"broken":  data(Key, "apiVersion: v1\nkind: Pod\nspec: {container: []}\n"),
		"helm":    data(Key, "apiVersion: v1\nkind: Pod\nmetadata: {name: {{ .Values.name }}}\n"),
		"bomb":    data(Key, "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"),
		"off":     {"metadata": map[string]any{"labels": map[string]any{kinds.TemplateLabel: "false"}}, "data": map[string]any{Key: pod}},
		"other":   {"metadata": map[string]any{"labels": map[string]any{}}, "data": map[string]any{Key: pod}},
	})
	for _, c2 := range []struct {
		name string
		code errs.Exit
		want string
	}{
		{"plain", errs.OK, ""},
		{"any-key", errs.OK, ""},
		{"chosen", errs.OK, ""},
		{"two", errs.Failure, "2 keys"},
		{"binary", errs.Failure, "binary"},
		{"empty", errs.Failure, "empty"},
		{"broken", errs.Usage, `no field "container"`},
		{"helm", errs.Usage, "Helm"},
		{"bomb", errs.Usage, "aliases"},
		{"off", errs.NotFound, "not a template"},
		{"other", errs.NotFound, kinds.TemplateLabel},
		{"absent", errs.NotFound, "not found"},
		{"../../../secrets/x", errs.Usage, "invalid template name"},
		{"a\x1b[31m", errs.Usage, "invalid template name"},
		{"A", errs.Usage, "invalid template name"},
		{"x.yaml", errs.Usage, "invalid template name"},
		{"", errs.Usage, "invalid template name"},
	} {
		before := s.requests
		tm, err := Get(t.Context(), c, "team", c2.name)
		if errs.ExitOf(err) != c2.code || err != nil && !strings.Contains(errs.Text(err, false), c2.want) {
			t.Errorf("%q: exit code %d, %v", c2.name, errs.ExitOf(err), err)
		}
		if err == nil && (tm.Name != c2.name || tm.Source != "configmap/"+c2.name+" in team") {
			t.Errorf("%q: name %q, source %q", c2.name, tm.Name, tm.Source)
		}
		if s.requests-before > 1 {
			t.Errorf("%q: %d requests", c2.name, s.requests-before)
		}
	}
	s.forbidden = "GET"
	if _, err := Get(t.Context(), c, "team", "plain"); !kube.IsForbidden(err) {
		t.Errorf("forbidden: %v", err)
	}
}

func TestList(t *testing.T) {
	s, c := start(t, map[string]map[string]any{
		"b": data(Key, pod), "a": data(Key, pod), "bad": data(Key, "{"), "x.yaml": data(Key, pod),
		"../up\x1b[2J": data(Key, pod), // no API server would, a hostile one may
		"plain":        {"metadata": map[string]any{"labels": map[string]any{}}, "data": map[string]any{Key: pod}},
	})
	found, unusable, err := List(t.Context(), c, "team")
	if err != nil || len(found) != 2 || found[0].Name != "a" || found[1].Name != "b" || len(unusable) != 3 {
		t.Errorf("%v, %v, %v", found, unusable, err)
	}
	if s.requests != 1 {
		t.Errorf("%d requests", s.requests)
	}
	s.forbidden = "LIST"
	if _, _, err := List(t.Context(), c, "team"); !kube.IsForbidden(err) {
		t.Errorf("forbidden: %v", err)
	}
}

func TestPut(t *testing.T) {
	s, c := start(t, map[string]map[string]any{
		"foreign": {"metadata": map[string]any{"labels": map[string]any{}}, "data": map[string]any{"x": "y"}},
		"old": {"metadata": map[string]any{"resourceVersion": "7", "annotations": map[string]any{"keep": "me"}},
			"data": map[string]any{"train.yaml": "x"}, "binaryData": map[string]any{"z": "AA=="}},
	})
	if err := Put(t.Context(), c, "team", "new", []byte(pod), false); err != nil {
		t.Fatal(err)
	}
	if tm, err := Get(t.Context(), c, "team", "new"); err != nil || string(tm.Text) != pod {
		t.Errorf("read back: %v", err)
	}
	for _, name := range []string{"new", "old"} {
		if err := Put(t.Context(), c, "team", name, []byte(pod), false); errs.ExitOf(err) != errs.Failure || !strings.Contains(errs.Text(err, false), "--replace") {
			t.Errorf("%s again: %v", name, err)
		}
	}
	if err := Put(t.Context(), c, "team", "foreign", []byte(pod), true); err == nil || !strings.Contains(err.Error(), "not a template") {
		t.Errorf("a ConfigMap of somebody else's: %v", err)
	}
	if err := Put(t.Context(), c, "team", "old", []byte(pod), true); err != nil {
		t.Fatal(err)
	}
	old := s.maps["old"]
	meta := old["metadata"].(map[string]any)
	if tm, err := Get(t.Context(), c, "team", "old"); err != nil || string(tm.Text) != pod || old["binaryData"] != nil ||
		meta["resourceVersion"] != "7" || meta["annotations"].(map[string]any)["keep"] != "me" {
		t.Errorf("replaced: %v, %v", err, old)
	}
	if err := Put(t.Context(), c, "team", "large", make([]byte, maxBytes+1), false); errs.ExitOf(err) != errs.Usage {
		t.Errorf("too large: %v", err)
	}
	s.forbidden = "POST"
	if err := Put(t.Context(), c, "team", "more", []byte(pod), false); !kube.IsForbidden(err) {
		t.Errorf("forbidden: %v", err)
	}
}
