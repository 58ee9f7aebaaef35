package sandbox

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzFile: a file is a sandbox or an error, and what can be opened answers requests and is
// saved again.
func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"kind":"hyperpod-sandbox","format":1,"scenario":"enterprise","resourceVersion":3,"objects":{"nodes":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"2"}}]}}`))
	f.Add([]byte(`{"kind":"hyperpod-sandbox","format":1,"objects":{"nodes":[null]}}`))
	f.Add([]byte(`{"kind":"hyperpod-sandbox","format":99}`))
	f.Add([]byte(`[]`))
	path := filepath.Join(f.TempDir(), "lab"+Extension)
	if _, err := Create(f.Context(), path, "john-smith", Options{}); err != nil {
		f.Fatal(err)
	}
	if data, err := os.ReadFile(path); err == nil && len(data) < 256<<10 {
		f.Add(data)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "lab"+Extension)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{Now: func() time.Time { return now }})
		if err != nil {
			return
		}
		for _, r := range [][2]string{{"GET", "/api/v1/nodes"}, {"DELETE", "/api/v1/namespaces/a/pods/b"}, {"GET", "/apis/kueue.x-k8s.io/v1beta2/workloads"}} {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest(r[0], r[1], nil))
			if w.Code == 0 {
				t.Errorf("%s has no answer", r)
			}
		}
	})
}

// FuzzRequest: whatever a client asks, the API answers, not with an internal error, and leaves a sandbox that can be opened
// and read.
func FuzzRequest(f *testing.F) {
	const jobs, job = "/apis/batch/v1/namespaces/hyperpod-ns-team-b/jobs", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	f.Add("GET", "/api/v1/nodes", "labelSelector=a%3Db&limit=1", "", "application/json;as=Table;v=v1;g=meta.k8s.io", "")
	f.Add("POST", jobs, "dryRun=All", "application/json", "", job)
	f.Add("POST", jobs, "fieldValidation=Strict", "application/yaml", "", "kind: Job\nspec: [")
	f.Add("PUT", jobs+"/a", "", "application/json", "", `{"metadata":null}`)
	f.Add("PATCH", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/hyperpod-ns-team-b-clusterqueue", "", "application/merge-patch+json", "", `{"spec":{"cohortName":"x","resourceGroups":null}}`)
	f.Add("PATCH", "/api/v1/namespaces/hyperpod-ns-team-b", "fieldManager=f&force=true", "application/apply-patch+yaml", "", "apiVersion: v1\nkind: Namespace\nmetadata: {name: hyperpod-ns-team-b, labels: {a: b}}")
	f.Add("PATCH", "/api/v1/nodes/x", "", "application/json-patch+json", "", `[{"op":"copy","from":"","path":"/a"}]`)
	f.Add("DELETE", jobs, "propagationPolicy=Foreground", "", "", `{"preconditions":{"uid":"x"}}`)
	f.Add("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", "application/json", "", `{"spec":{"resourceAttributes":{"verb":"get"}}}`)
	template := filepath.Join(f.TempDir(), "lab"+Extension)
	if _, err := Create(f.Context(), template, "john-smith", Options{}); err != nil {
		f.Fatal(err)
	}
	begin, err := os.ReadFile(template)
	if err != nil {
		f.Fatal(err)
	}
	now := func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	f.Fuzz(func(t *testing.T, method, path, query, contentType, accept, body string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		for _, stream := range []string{"watch", "follow"} { // these have no end
			values.Del(stream)
		}
		file := filepath.Join(t.TempDir(), "lab"+Extension)
		if err := os.WriteFile(file, begin, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(file, Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/", bytes.NewReader([]byte(body)))
		r.Method, r.URL = method, &url.URL{Path: path, RawQuery: values.Encode()}
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
		again, err := Open(file, Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		w = httptest.NewRecorder()
		again.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/nodes", nil))
		if w.Code != http.StatusOK {
			t.Errorf("then nodes: %d: %s", w.Code, w.Body)
		}
	})
}
