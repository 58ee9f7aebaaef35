package kube

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

func TestErrorTexts(t *testing.T) {
	rbac := `pytorchjobs.kubeflow.org is forbidden: User "arn:aws:sts::1:assumed-role/ds/me" cannot list resource "pytorchjobs" in API group "kubeflow.org" in the namespace "team"`
	notFound := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "404 page not found", 404) }
	list := func(c *Client) error {
		_, err := List[item](bg, c, kinds.PyTorchJob.Resource, "team", ListOptions{})
		return err
	}
	get := func(c *Client) error { return c.Get(bg, kinds.PyTorchJob.Resource, "team", "train", nil) }
	create := func(c *Client) error {
		return c.Create(bg, kinds.PyTorchJob.Resource, "team", json.RawMessage(`{"metadata":{"name":"train"}}`), CreateOptions{}, nil)
	}
	tests := []struct {
		name   string
		answer http.HandlerFunc
		do     func(*Client) error
		is     func(error) bool
		code   errs.Exit
		says   []string
	}{
		{"401", refuse(401, "Unauthorized", "Unauthorized"), list, IsUnauthorized, errs.Denied, []string{"cannot list pytorchjobs in namespace team: credentials missing, invalid or expired", "aws sts get-caller-identity"}},
		{"403 of RBAC", refuse(403, "Forbidden", rbac), list, IsForbidden, errs.Denied,
			[]string{"cannot list pytorchjobs in namespace team: permission denied\n  you are:  arn:aws:sts::1:assumed-role/ds/me\n  needs:    permission to list pytorchjobs.kubeflow.org in namespace team", "kubectl auth can-i list pytorchjobs.kubeflow.org -n team", "administrator"}},
		{"403 of RBAC, create", refuse(403, "Forbidden", `x: User "u" cannot create resource`), create, IsForbidden, errs.Denied, []string{`cannot create pytorchjob "train" in namespace team: permission denied`, "permission to create"}},
		{"403 of a proxy", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, get, IsForbidden, errs.Denied, []string{"permission to get"}},
		{"403 of a policy", refuse(403, "Forbidden", "ValidatingAdmissionPolicy 'p' denied request: The label\n 'queue' is missing"), create, IsForbidden, errs.Failure,
			[]string{"rejected by a policy of the cluster", "message:  ValidatingAdmissionPolicy 'p' denied request: The label 'queue' is missing"}},
		{"403 of a namespace that ends", refuse(403, "Forbidden", "pytorchjobs.kubeflow.org \"train\" is forbidden: unable to create new content in namespace team because it is being terminated"), create, IsForbidden, errs.Failure,
			[]string{"the namespace is being deleted", "advice:"}},
		{"404 of an object", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			fmt.Fprint(w, `{"kind":"Status","reason":"NotFound","message":"x","code":404,"details":{"name":"train","group":"kubeflow.org","kind":"pytorchjobs"}}`)
		}, get, func(err error) bool { return IsNotFound(err) && !IsNotServed(err) }, errs.NotFound, []string{`cannot get pytorchjob "train" in namespace team: not found`}},
		{"404 of a namespace", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			fmt.Fprint(w, `{"kind":"Status","reason":"NotFound","message":"namespaces \"team\" not found","code":404,"details":{"name":"team","kind":"namespaces"}}`)
		}, create, IsNotFound, errs.NotFound, []string{"namespace not found"}},
		{"404 of the group", notFound, list, IsNotServed, errs.NotFound, []string{"the cluster does not serve pytorchjobs.kubeflow.org (kubeflow.org/v1)", "install the Kubeflow training operator"}},
		{"409 exists", refuse(409, "AlreadyExists", "x"), create, IsAlreadyExists, errs.Failure, []string{"already exists"}},
		{"409 conflict", refuse(409, "Conflict", "the object has been modified"), create, func(err error) bool { return !IsAlreadyExists(err) }, errs.Failure, []string{"changed at the same time", "advice:"}},
		{"409 of server-side apply", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(409)
			fmt.Fprint(w, `{"kind":"Status","reason":"Conflict","message":"Apply failed with 1 conflict","code":409,"details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"kubectl-edit\" using kueue.x-k8s.io/v1beta2","field":".spec.cohortName"}]}}`)
		}, create, IsOwned, errs.Failure, []string{"another manager owns fields that this changes", `spec.cohortName:  conflict with "kubectl-edit"`}},
		{"410", refuse(410, "Expired", "too old"), list, isExpired, errs.Failure, []string{"has expired"}},
		{"422", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(422)
			fmt.Fprint(w, `{"kind":"Status","reason":"Invalid","message":"long","code":422,"details":{"causes":[{"reason":"FieldValueInvalid","message":"Invalid value: -1: must be greater than 0","field":"spec.replicas"},{"message":"odd","field":""}]}}`)
		}, create, IsInvalid, errs.Failure, []string{"rejected by the cluster as invalid", "spec.replicas:  Invalid value: -1", "reason:         odd"}},
		{"400", refuse(400, "BadRequest", `strict decoding error: unknown field "spec.x"`), create, IsInvalid, errs.Failure, []string{`unknown field "spec.x"`}},
		{"429", refuse(429, "TooManyRequests", "x"), create, func(err error) bool { return hasCode(err, http.StatusTooManyRequests) }, errs.Failure, []string{"overloaded"}},
		{"500 of a webhook", refuse(500, "InternalError", `Internal error occurred: failed calling webhook "mjob.kb.io": failed to call webhook: context deadline exceeded`), create, func(err error) bool { return !IsInvalid(err) }, errs.Failure,
			[]string{"the webhook mjob.kb.io does not answer", "context deadline exceeded", "the server made no change"}},
		{"500", refuse(500, "InternalError", "boom \x1b[31m"), create, func(err error) bool { return !IsInvalid(err) }, errs.Failure, []string{"the server failed (HTTP 500)", "boom \ufffd[31m"}},
		{"302", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, get, func(error) bool { return true }, errs.Failure, []string{"HTTP 302"}},
		{"a web page", answer("<html>sign in</html>"), list, func(error) bool { return true }, errs.Failure, []string{"not from a Kubernetes API server"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := serve(t, inTurn(t, tt.answer))
			err := tt.do(c)
			mustSay(t, err, tt.code, tt.says...)
			if !tt.is(err) {
				t.Errorf("the predicate does not hold for %v", err)
			}
			if text := errs.Text(err, false); strings.Contains(text, "<html>") || strings.Contains(text, "\x1b") || strings.Contains(text, "page not found") {
				t.Errorf("raw text:\n%s", text)
			}
		})
	}
}
