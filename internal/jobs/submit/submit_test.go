package submit

import (
	"context"
	"errors"
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
	invalid   = `{"kind":"Status","status":"Failure","reason":"Invalid","code":422,"message":"no"}`
)

func job(extra string) string {
	return `{"kind":"PyTorchJob","metadata":{"name":"j","uid":"u1","creationTimestamp":"2026-01-02T03:04:05Z"` + extra + `}}`
}

func request(key string, withService bool) Request {
	r := Request{Namespace: "ns", Key: key, Manager: "hyperpod-me"}
	if withService {
		r.Objects = append(r.Objects, Object{kinds.Service, map[string]any{"metadata": map[string]any{"name": "s"}}})
	}
	r.Objects = append(r.Objects, Object{kinds.PyTorchJob.Resource, map[string]any{"metadata": map[string]any{"name": "j"}}})
	return r
}

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
			exit: errs.Failure, text: []string{"it is not known whether"}, log: "POST GET"},
		{name: "answer lost twice", req: request("", false), answers: answers{"POST " + jobs: {drop, drop},
			"GET " + jobs + "/j": {body(404, `{"kind":"Status","reason":"NotFound","code":404}`), body(200, job(ours))}}, log: "POST GET POST GET"},
		{name: "exists", req: request("", false), answers: answers{"POST " + jobs: {body(409, exists409)},
			"GET " + jobs + "/j": {body(200, job(`,"labels":{"sagemaker.user/created-by":"ada"}`))}},
			exit: errs.Failure, text: []string{`PyTorchJob "j" already exists in ns: nothing was changed`, "2026-01-02T03:04:05Z", "by:     ada"}},
		{name: "same key", req: request("k", false), answers: answers{"POST " + jobs: {body(409, exists409)},
			"GET " + jobs + "/j": {body(200, job(keyed))}}, reused: true},
		{name: "other key", req: request("other", false), answers: answers{"POST " + jobs: {body(409, exists409)},
			"GET " + jobs + "/j": {body(200, job(keyed))}}, exit: errs.Failure, text: []string{"already exists"}},
		{name: "second fails, first removed", req: request("", true), answers: answers{
			"POST " + services: {body(201, `{"metadata":{"name":"s","uid":"u2"}}`)}, "POST " + jobs: {body(422, invalid)},
			"DELETE " + services + "/s": {body(200, `{"kind":"Status","status":"Success"}`)}},
			exit: errs.Failure, text: []string{"the job was not submitted", "removed:"}},
		{name: "second fails, first stays", req: request("", true), answers: answers{
			"POST " + services: {body(201, `{"metadata":{"name":"s","uid":"u2"}}`)}, "POST " + jobs: {body(422, invalid)},
			"DELETE " + services + "/s": {body(403, `{"kind":"Status","reason":"Forbidden","code":403}`)}},
			exit: errs.Failure, text: []string{"left:", "service s could not be removed"}},
		{name: "second fails, first was there before", req: request("k", true), answers: answers{
			"POST " + services: {body(409, exists409)}, "GET " + services + "/s": {body(200, `{"metadata":{"name":"s","annotations":{"cli.hyperpod/idempotency-key":"k"}}}`)},
			"POST " + jobs: {body(422, invalid)}}, exit: errs.Failure},
	} {
		t.Run(c.name, func(t *testing.T) {
			api, s := client(t, c.answers)
			res, err := Submit(context.Background(), api, c.req)
			if (err != nil) != (c.exit != errs.OK) {
				t.Fatalf("error %v", err)
			}
			if err != nil {
				var e *errs.Error
				if !errors.As(err, &e) || e.Code != c.exit {
					t.Errorf("exit code %d of %v, want %d", errs.ExitOf(err), err, c.exit)
				}
				for _, want := range c.text {
					if !strings.Contains(errs.Text(err, false), want) {
						t.Errorf("%q is not in %q", want, errs.Text(err, false))
					}
				}
			} else if len(res.Created) != len(c.req.Objects) || res.Reused != c.reused {
				t.Errorf("result %+v", res)
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
