package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// server answers each "METHOD path" with the handlers queued for it, in order.
type server struct {
	t       *testing.T
	mu      sync.Mutex // a dropped request may still be in its handler
	answers map[string][]http.HandlerFunc
	log     []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := s.next(r.Method + " " + r.URL.Path)
	if answer == nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	answer(w, r)
}

func (s *server) next(key string) http.HandlerFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, key)
	queue := s.answers[key]
	if len(queue) == 0 {
		s.t.Errorf("unexpected request %s", key)
		return nil
	}
	s.answers[key] = queue[1:]
	return queue[0]
}

func client(t *testing.T, answers map[string][]http.HandlerFunc) (*kube.Client, *server) {
	t.Helper()
	s := &server{t: t, answers: answers}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	c, err := kube.New(&rest.Config{Host: h.URL}, kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func body(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		io.WriteString(w, text)
	}
}

func drop(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	panic(http.ErrAbortHandler)
}

const (
	jobs      = "/apis/kubeflow.org/v1/namespaces/ns/pytorchjobs"
	services  = "/api/v1/namespaces/ns/services"
	exists409 = `{"kind":"Status","status":"Failure","reason":"AlreadyExists","code":409,"message":"exists"}`
	missing   = `{"kind":"Status","reason":"NotFound","code":404}`
	refused   = `{"kind":"Status","reason":"Forbidden","code":403,"message":"User \"a\" cannot patch"}`
	invalid   = `{"kind":"Status","status":"Failure","reason":"Invalid","code":422,"message":"no"}`
)

func job(extra string) string {
	return `{"kind":"PyTorchJob","metadata":{"name":"j","uid":"u1","creationTimestamp":"2026-01-02T03:04:05Z"` + extra + `}}`
}

func service(extra, spec string) string {
	return `{"kind":"Service","metadata":{"name":"s","uid":"u2"` + extra + `},"spec":{` + spec + `}}`
}

const (
	bound  = `,"labels":{"cli.hyperpod/job":"j","cli.hyperpod/job-kind":"PyTorchJob"}`
	others = `,"labels":{"cli.hyperpod/job":"j","cli.hyperpod/job-kind":"MPIJob"}`
	owned  = bound + `,"ownerReferences":[{"kind":"MPIJob","name":"j","uid":"u9"}]`
	broken = `{"kind":"Status","status":"Failure","reason":"InternalError","code":500,"message":"etcd"}`
)

// conflictUnless accepts a write that has a text in it, as of the version that
// the object has by then.
func conflictUnless(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if !strings.Contains(string(sent), text) && strings.Contains(string(sent), `"resourceVersion"`) {
			w.WriteHeader(409)
			io.WriteString(w, `{"kind":"Status","status":"Failure","reason":"Conflict","code":409,"message":"changed"}`)
			return
		}
		w.WriteHeader(200)
		io.WriteString(w, service("", ""))
	}
}

func request(key string, withService bool) Request {
	r := Request{Namespace: "ns", Key: key, Manager: "hyperpod-me"}
	if withService {
		r.Job = 1
		r.Objects = append(r.Objects, Object{kinds.Service, map[string]any{"kind": "Service", "metadata": map[string]any{"name": "s"}, "spec": map[string]any{"port": int64(1)}}})
	}
	r.Objects = append(r.Objects, Object{kinds.PyTorchJob.Resource, map[string]any{"metadata": map[string]any{"name": "j"}}})
	return r
}

func keyedSpec(replicas int64) Request {
	r := request("k", false)
	r.Objects[0].Body["spec"] = map[string]any{"replicas": replicas}
	return r
}

func replacing(r Request) Request { r.Replace = true; return r }

func TestSubmit(t *testing.T) {
	ours := `,"managedFields":[{"manager":"hyperpod-me"}]`
	keyed := `,"annotations":{"cli.hyperpod/idempotency-key":"k"}`
	type answers = map[string][]http.HandlerFunc
	for _, c := range []struct {
		name    string
		req     Request
		answers answers
		reused  bool
		exit    errs.Exit
		text    []string // of the error
		actions string
		log     string
	}{
		{name: "created", req: request("", false), answers: answers{"POST " + jobs: {body(201, job(""))}}},
		{name: "answer lost, made", req: request("", false), answers: answers{"POST " + jobs: {drop}, "GET " + jobs + "/j": {body(200, job(ours))}},
			log: "POST GET"},
		{name: "answer lost, not made", req: request("", false), answers: answers{"POST " + jobs: {drop, body(201, job(""))},
			"GET " + jobs + "/j": {body(404, `{"kind":"Status","reason":"NotFound","code":404}`)}}, log: "POST GET POST"},
		{name: "answer lost, another's", req: request("", false), answers: answers{"POST " + jobs: {drop, body(409, exists409)},
			"GET " + jobs + "/j": {body(200, job("")), body(200, job(""))}}, exit: errs.Failure, text: []string{"already exists", "since"}},
		{name: "answer lost, no look", req: request("", false), answers: answers{"POST " + jobs: {drop},
			"GET " + jobs + "/j": {body(403, `{"kind":"Status","reason":"Forbidden","code":403,"message":"User \"a\" cannot get"}`)}},
			exit: errs.Failure, text: []string{"cannot tell whether"}, log: "POST GET"},
		{name: "answer lost twice", req: request("", false), answers: answers{"POST " + jobs: {drop, drop},
			"GET " + jobs + "/j": {body(404, `{"kind":"Status","reason":"NotFound","code":404}`), body(200, job(ours))}}, log: "POST GET POST GET"},
		{name: "exists", req: request("", false), answers: answers{"POST " + jobs: {body(409, exists409)},
			"GET " + jobs + "/j": {body(200, job(`,"labels":{"sagemaker.user/created-by":"ada"}`))}},
			exit: errs.Failure, text: []string{`PyTorchJob "j" already exists in ns: nothing was changed`, "2026-01-02T03:04:05Z", "by:     ada"}},
		{name: "same key", req: request("k", false), answers: answers{"POST " + jobs: {body(409, exists409)},
			"GET " + jobs + "/j": {body(200, job(keyed))}}, reused: true},
		{name: "same key, another definition", req: keyedSpec(2), answers: answers{"POST " + jobs: {body(409, exists409)},
			"GET " + jobs + "/j": {body(200, job(keyed+`,"labels":{"a":"b"}`))}}, exit: errs.No,
			text: []string{`PyTorchJob "j" of this idempotency key has another definition: nothing was changed`, "would be added: map[replicas:2]"}},
		{name: "same key, fewer fields", req: request("k", false), answers: answers{"POST " + jobs: {body(409, exists409)},
			"GET " + jobs + "/j": {body(200, job(`,"annotations":{"cli.hyperpod/idempotency-key":"k","cli.hyperpod/definition":"other"}`))}}, exit: errs.No,
			text: []string{"fields that the definition no longer has"}},
		{name: "same key, no permission to read", req: request("k", false), answers: answers{"POST " + jobs: {body(409, exists409)},
			"GET " + jobs + "/j": {body(403, `{"kind":"Status","reason":"Forbidden","code":403,"message":"User \"a\" cannot get"}`)}},
			exit: errs.Denied, text: []string{`PyTorchJob "j" already exists in ns and cannot be compared: cannot get pytorchjob "j" in namespace ns: permission denied`}, log: "POST GET"},
		{name: "other key", req: request("other", false), answers: answers{"POST " + jobs: {body(409, exists409)},
			"GET " + jobs + "/j": {body(200, job(keyed))}}, exit: errs.Failure, text: []string{"already exists"}},
		{name: "second fails, first removed", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(404, missing)}, "GET " + jobs + "/j": {body(404, missing)},
			"POST " + services: {body(201, service(bound, ""))}, "POST " + jobs: {body(422, invalid)},
			"DELETE " + services + "/s": {body(200, `{"kind":"Status","status":"Success"}`)}},
			exit: errs.Failure, text: []string{"the job was not submitted", "removed:"}},
		{name: "second fails, first stays", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(404, missing)}, "GET " + jobs + "/j": {body(404, missing)},
			"POST " + services: {body(201, service(bound, ""))}, "POST " + jobs: {body(422, invalid)},
			"DELETE " + services + "/s": {body(403, refused)}},
			exit: errs.Failure, text: []string{"left:", "service s could not be removed"}},
		{name: "second fails, first was there before", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(200, service("", `"port":1`))}, "GET " + jobs + "/j": {body(404, missing)},
			"PATCH " + services + "/s": {body(200, service("", `"port":1`))}, "POST " + jobs: {body(422, invalid)}}, exit: errs.Failure},
		{name: "both created, the job owns the first", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(404, missing)}, "GET " + jobs + "/j": {body(404, missing)},
			"POST " + services: {body(201, service(bound, ""))}, "POST " + jobs: {body(201, job(""))},
			"PATCH " + services + "/s": {body(200, service(bound, ""))}}, actions: "created created"},
		{name: "who may not own it goes on", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(403, refused)}, "GET " + jobs + "/j": {body(404, missing)},
			"POST " + services: {body(201, service(bound, ""))}, "POST " + jobs: {body(201, job(""))},
			"PATCH " + services + "/s": {body(403, refused)}}, actions: "created created"},
		{name: "there and the same", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(200, service("", `"port":1,"type":"ClusterIP"`))}, "GET " + jobs + "/j": {body(404, missing)},
			"PATCH " + services + "/s": {body(200, service(`,"resourceVersion":"9"`, `"port":1,"type":"ClusterIP"`))},
			"POST " + jobs:             {body(201, job(""))}}, actions: "unchanged created"},
		{name: "there and the same, as far as may be seen", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(200, service("", `"port":1,"type":"ClusterIP"`))}, "GET " + jobs + "/j": {body(404, missing)},
			"PATCH " + services + "/s": {body(403, refused)}, "POST " + jobs: {body(201, job(""))}}, actions: "unchanged created"},
		{name: "there and different", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(200, service("", `"port":2`))}, "GET " + jobs + "/j": {body(404, missing)},
			"PATCH " + services + "/s": {body(200, service("", `"port":1`))}}, exit: errs.No,
			text: []string{`Service "s" already exists in ns and differs: nothing was changed`, "spec.port:  2 -> 1", "--replace"}},
		{name: "replaced", req: replacing(request("", true)), answers: answers{
			"GET " + services + "/s": {body(200, service("", `"port":2`))}, "GET " + jobs + "/j": {body(404, missing)},
			"PATCH " + services + "/s": {body(200, service("", `"port":1`)), body(200, service("", `"port":1`))}, "POST " + jobs: {body(201, job(""))}}, actions: "configured created"},
		{name: "replaced and put back", req: replacing(request("", true)), answers: answers{
			"GET " + services + "/s": {body(200, service("", `"port":2`))}, "GET " + jobs + "/j": {body(404, missing)},
			"PATCH " + services + "/s": {body(200, service("", `"port":1`)), body(200, service("", `"port":1`))}, "POST " + jobs: {body(422, invalid)},
			"PUT " + services + "/s": {body(200, service("", `"port":2`))}}, exit: errs.Failure, text: []string{"was not submitted", "restored:  service s"}},
		{name: "left by an earlier job of the name", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(200, service(bound, `"port":2`))}, "GET " + jobs + "/j": {body(404, missing)},
			"DELETE " + services + "/s": {body(200, `{"kind":"Status","status":"Success"}`)}, "POST " + services: {body(201, service(bound, ""))},
			"POST " + jobs: {body(201, job(""))}, "PATCH " + services + "/s": {body(200, service(bound, ""))}}, actions: "created created"},
		{name: "stays, of a job that may not be read", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(200, service(bound, `"port":1`))}, "GET " + jobs + "/j": {body(403, refused)},
			"PATCH " + services + "/s": {body(200, service(bound, `"port":1`))}, "POST " + jobs: {body(201, job(""))}}, actions: "unchanged created"},
		{name: "stays, of a job that cannot be read now", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(200, service(bound, `"port":1`))}, "GET " + jobs + "/j": {body(500, broken)},
			"PATCH " + services + "/s": {body(200, service(bound, `"port":1`))}, "POST " + jobs: {body(201, job(""))}}, actions: "unchanged created"},
		{name: "stays, of a job of another kind", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(200, service(others, `"port":1`))}, "GET " + jobs + "/j": {body(404, missing)},
			"PATCH " + services + "/s": {body(200, service(others, `"port":1`))}, "POST " + jobs: {body(201, job(""))}}, actions: "unchanged created"},
		{name: "stays, owned by a job of another kind", req: request("", true), answers: answers{
			"GET " + services + "/s": {body(200, service(owned, `"port":1`))}, "GET " + jobs + "/j": {body(404, missing)},
			"PATCH " + services + "/s": {body(200, service(owned, `"port":1`))}, "POST " + jobs: {body(201, job(""))}}, actions: "unchanged created"},
		{name: "replaced, and changed by another since", req: replacing(request("", true)), answers: answers{
			"GET " + services + "/s": {body(200, service("", `"port":2`))}, "GET " + jobs + "/j": {body(404, missing)},
			"PATCH " + services + "/s": {body(200, service("", `"port":1`)), body(200, service(`,"resourceVersion":"7"`, `"port":1`))}, "POST " + jobs: {body(422, invalid)},
			"PUT " + services + "/s": {conflictUnless(`"resourceVersion":"8"`)}}, exit: errs.Failure, text: []string{"left:", "service s could not be restored"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			api, s := client(t, c.answers)
			res, err := Submit(context.Background(), api, c.req)
			if (err != nil) != (c.exit != errs.OK) {
				t.Fatalf("error %v", err)
			}
			if err = Worded(err); err != nil {
				var e *errs.Error
				if !errors.As(err, &e) || e.Code != c.exit {
					t.Errorf("exit code %d of %v, want %d", errs.ExitOf(err), err, c.exit)
				}
				for _, want := range c.text {
					if !strings.Contains(errs.Text(err, false), want) {
						t.Errorf("%q is not in %q", want, errs.Text(err, false))
					}
				}
			} else if len(res.Objects) != len(c.req.Objects) || res.Reused != c.reused {
				t.Errorf("result %+v", res)
			}
			if got := strings.Trim(fmt.Sprint(res.Actions), "[]"); c.actions != "" && got != c.actions {
				t.Errorf("actions %s, want %s", got, c.actions)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if c.log != "" {
				var methods []string
				for _, l := range s.log {
					methods = append(methods, strings.Fields(l)[0])
				}
				if got := strings.Join(methods, " "); got != c.log {
					t.Errorf("requests %s, want %s", got, c.log)
				}
			}
			for key, left := range c.answers {
				if len(left) > 0 {
					t.Errorf("%s: %d answers were not asked for", key, len(left))
				}
			}
		})
	}
}

func TestDiff(t *testing.T) {
	before := map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "a", "resourceVersion": "1", "labels": map[string]any{"x": "1"}},
		"data": map[string]any{"token": "old"}, "list": []any{int64(1), map[string]any{"k": "v"}}, "status": "s"}
	after := map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "a", "resourceVersion": "2", "labels": map[string]any{"y": "1"}},
		"data": map[string]any{"token": "new"}, "list": []any{int64(1), map[string]any{"k": "w"}}}
	var got []string
	for _, c := range diff(before, after) {
		got = append(got, c.Path+": "+c.Before+" -> "+c.After)
	}
	want := "data.token: (not shown) -> (not shown)|list[1].k: v -> w|metadata.labels.x: 1 -> |metadata.labels.y:  -> 1"
	if strings.Join(got, "|") != want {
		t.Errorf("got %s", strings.Join(got, "|"))
	}
	env := func(v string) map[string]any {
		return map[string]any{"spec": map[string]any{"env": []any{map[string]any{"name": "A", "value": v}}}}
	}
	more := map[string]any{"spec": map[string]any{"env": []any{map[string]any{"name": "A", "value": "old"}, map[string]any{"name": "B", "value": "new"}}}}
	for _, before := range []map[string]any{env("old"), {}} {
		if c := fmt.Sprint(diff(before, more)); strings.Contains(c, "old") || strings.Contains(c, "new") || !strings.Contains(c, "name:B") {
			t.Errorf("got %s", c)
		}
	}
	if c := diff(env("old"), env("new")); len(c) != 1 || c[0].Before != "(not shown)" {
		t.Errorf("got %+v", c)
	}
}

func TestTogether(t *testing.T) {
	objects := request("", true).Objects
	objects = append(objects, Object{kinds.Resource{Version: "v1", Kind: "PersistentVolumeClaim", Namespaced: true}, map[string]any{"metadata": map[string]any{"name": "data"}}},
		Object{kinds.Resource{Group: "apps", Version: "v1", Kind: "Deployment", Namespaced: true}, map[string]any{"metadata": map[string]any{"name": "etcd"}}})
	bind(objects, 1, func(i int) bool { return true })
	want := []Ref{{"v1", "Service", "s"}, {"apps/v1", "Deployment", "etcd"}}
	if got := Together(map[string]string{kinds.TogetherAnnotation: kinds.Text(objects[1].Body, "metadata", "annotations", kinds.TogetherAnnotation)}); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v", got)
	}
	if !belongsTo(objects[0].Body, "j") || belongsTo(objects[2].Body, "j") || belongsTo(objects[0].Body, "") {
		t.Error("the wrong objects are marked")
	}
	if got := Together(map[string]string{kinds.TogetherAnnotation: "x / a/b  v1/Service/s"}); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

// TestKey: a start that is repeated with its key and definition finds its job, whatever
// the server, the user or the command line add.
func TestKey(t *testing.T) {
	list := func(image string) Request {
		r := keyedSpec(1)
		r.Objects[0].Body["spec"] = map[string]any{"containers": []any{map[string]any{"image": image}}}
		return r
	}
	made := func(r Request) map[string]any {
		identify(r)
		body := runtime.DeepCopyJSON(r.Objects[0].Body)
		c := body["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
		c["imagePullPolicy"] = "Always"
		body["spec"].(map[string]any)["suspend"] = true
		kinds.Set(body, "u", "metadata", "uid")
		return body
	}
	found := made(list("a"))
	again := list("a")
	kinds.Set(again.Objects[0].Body, "start-job --again", "metadata", "annotations", kinds.CommandAnnotation)
	identify(again)
	if err := reuse(again, again.Objects[0], found, nil); err != nil {
		t.Errorf("the same definition: %v", err)
	}
	old := runtime.DeepCopyJSON(found)
	delete(old["metadata"].(map[string]any)["annotations"].(map[string]any), kinds.DefinitionAnnotation)
	if err := reuse(again, again.Objects[0], old, nil); err != nil {
		t.Errorf("a job of an earlier version: %v", err)
	}
	other := list("b")
	identify(other)
	var e *Error
	if err := reuse(other, other.Objects[0], found, nil); !errors.As(err, &e) || e.Code != OtherDefinition || len(e.Changes) != 1 || e.Changes[0] != (Change{"spec.containers[0].image", "a", "b"}) {
		t.Errorf("another image: %v, %+v", err, e)
	}
}
