package sandbox

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

const rbacPath = "/apis/rbac.authorization.k8s.io/v1/"

// Users who are impersonated have the permissions of their roles; the sandbox's owner has all.
func TestRoles(t *testing.T) {
	b := newBench(t, "john-smith")
	b.must(201, "POST", rbacPath+"namespaces/"+smithNS+"/roles", `{"metadata":{"name":"reader"},"rules":[{"apiGroups":[""],"resources":["pods","pods/log"],"verbs":["get","list"]},
		{"apiGroups":["kubeflow.org"],"resources":["pytorchjobs"],"verbs":["create"]},{"apiGroups":[""],"resources":["configmaps"],"resourceNames":["one"],"verbs":["get"]}]}`)
	b.must(201, "POST", rbacPath+"namespaces/"+smithNS+"/rolebindings", `{"metadata":{"name":"jane"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"reader"},
		"subjects":[{"kind":"User","name":"jane","apiGroup":"rbac.authorization.k8s.io"},{"kind":"Group","name":"readers"},{"kind":"ServiceAccount","name":"robot"}]}`)
	b.must(201, "POST", rbacPath+"namespaces/"+johnNS+"/rolebindings", `{"metadata":{"name":"viewers"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"Group","name":"readers"}]}`)
	pods := kinds.Pod.Path(smithNS, "")
	for _, c := range []struct {
		as, method, path, body string
		code                   int
		says                   string
	}{
		{"Impersonate-User: jane", "GET", pods, "", 200, ""},
		{"Impersonate-User: jane", "GET", pods + "?watch=true&timeoutSeconds=1", "", 403, `pods is forbidden: User "jane" cannot watch resource "pods" in API group "" in the namespace "hyperpod-ns-smith"`},
		{"Impersonate-User: jane", "GET", "/api/v1/pods", "", 403, `pods is forbidden: User "jane" cannot list resource "pods" in API group "" at the cluster scope`},
		{"Impersonate-User: jane", "GET", "/api/v1/nodes", "", 403, `nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope`},
		{"Impersonate-User: jane", "DELETE", pods + "/x", "", 403, `pods "x" is forbidden: User "jane" cannot delete resource "pods" in API group "" in the namespace "hyperpod-ns-smith"`},
		{"Impersonate-User: jane", "GET", pods + "/x/log", "", 404, ""},
		{"Impersonate-User: jane", "POST", pods + "/x/eviction", "{}", 403, `pods "x" is forbidden: User "jane" cannot create resource "pods/eviction" in API group "" in the namespace "hyperpod-ns-smith"`},
		{"Impersonate-User: jane", "GET", "/api/v1/namespaces/" + smithNS + "/configmaps/one", "", 404, ""},
		{"Impersonate-User: jane", "GET", "/api/v1/namespaces/" + smithNS + "/configmaps/two", "", 403, ""},
		{"Impersonate-User: jane", "POST", kinds.PyTorchJob.Path(smithNS, ""), mustJSON(t, pytorch("j", "smith", 1, 1)), 201, ""},
		{"Impersonate-User: jane", "PATCH", kinds.PyTorchJob.Path(smithNS, "k") + "?fieldManager=f", mustJSON(t, pytorch("k", "smith", 1, 1)), 403, ""},
		{"Impersonate-User: system:serviceaccount:" + smithNS + ":robot", "GET", pods, "", 200, ""},
		{"Impersonate-User: bob", "GET", pods, "", 403, ""},
		{"Impersonate-User: bob", "GET", "/api", "", 200, ""},
		{"Impersonate-User: bob", "GET", "/metrics", "", 403, `forbidden: User "bob" cannot get path "/metrics"`},
		{"Impersonate-Group: readers", "GET", pods, "", 400, ""},
		{"", "GET", pods, "", 200, ""},
	} {
		var headers []string
		if c.as != "" {
			headers = append(headers, c.as)
		}
		a := b.send(c.method, c.path, c.body, headers...)
		if message := ""; a.code != c.code {
			t.Errorf("%s %s %s: %d, want %d: %s", c.as, c.method, c.path, a.code, c.code, a.body)
		} else if c.says != "" {
			if message = object.Text(a.object(t), "message"); message != c.says {
				t.Errorf("%s %s: %s, want %s", c.method, c.path, message, c.says)
			}
		}
	}
	// The group's permissions: from the Role and from the ClusterRole view.
	group := []string{"Impersonate-User: bob", "Impersonate-Group: readers"}
	b.must(200, "GET", kinds.Workload.Path(johnNS, ""), "", group...)
	b.must(200, "GET", pods, "", group...)
	b.must(403, "GET", kinds.Secret.Path(johnNS, ""), "", group...)
}

func TestAccessReviews(t *testing.T) {
	b := newBench(t, "john-smith")
	b.must(201, "POST", rbacPath+"clusterrolebindings", `{"metadata":{"name":"nodes"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"User","name":"root"}]}`)
	b.must(201, "POST", rbacPath+"namespaces/"+smithNS+"/rolebindings", `{"metadata":{"name":"jane"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"User","name":"jane"}]}`)
	may := func(kind, spec string, headers ...string) bool {
		t.Helper()
		m := b.must(201, "POST", "/apis/authorization.k8s.io/v1/"+kind, `{"spec":`+spec+`}`, headers...)
		return object.Bool(m, "status", "allowed")
	}
	pods := `"resourceAttributes":{"namespace":"` + smithNS + `","verb":"list","resource":"pods"}`
	drop := `"resourceAttributes":{"namespace":"` + smithNS + `","verb":"delete","resource":"pods"}`
	for _, c := range []struct {
		kind, spec, as string
		want           bool
	}{
		{"selfsubjectaccessreviews", `{` + pods + `}`, "jane", true},
		{"selfsubjectaccessreviews", `{` + drop + `}`, "jane", false},
		{"selfsubjectaccessreviews", `{` + drop + `}`, "root", true},
		{"selfsubjectaccessreviews", `{` + drop + `}`, "", true},
		{"subjectaccessreviews", `{"user":"jane",` + pods + `}`, "", true},
		{"subjectaccessreviews", `{"user":"bob",` + pods + `}`, "", false},
		{"subjectaccessreviews", `{"user":"bob","groups":["system:masters"],` + drop + `}`, "", true},
	} {
		var headers []string
		if c.as != "" {
			headers = append(headers, "Impersonate-User: "+c.as)
		}
		if got := may(c.kind, c.spec, headers...); got != c.want {
			t.Errorf("%s %s as %s: %v", c.kind, c.spec, c.as, got)
		}
	}
	m := b.must(201, "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", `{"spec":{"namespace":"`+smithNS+`"}}`, "Impersonate-User: jane")
	if rules := fmt.Sprint(object.At(m, "status", "resourceRules")); !strings.Contains(rules, "pytorchjobs") || strings.Contains(rules, "delete") {
		t.Errorf("jane's rules: %s", rules)
	}
	who := b.must(201, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`, "Impersonate-User: jane")
	if object.Text(who, "status", "userInfo", "username") != "jane" {
		t.Errorf("%v", who["status"])
	}
}

// A service account's token has the account's permissions. It ends with the account and after
// its time.
func TestTokens(t *testing.T) {
	b := newBench(t, "john-smith")
	b.must(201, "POST", kinds.ServiceAccount.Path(smithNS, ""), `{"metadata":{"name":"robot"}}`)
	b.must(201, "POST", rbacPath+"namespaces/"+smithNS+"/rolebindings", `{"metadata":{"name":"robot"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"`+smithNS+`"}]}`)
	m := b.must(201, "POST", kinds.ServiceAccount.Path(smithNS, "robot")+"/token", `{"spec":{"expirationSeconds":3600}}`)
	token, own := object.Text(m, "status", "token"), rand.Text()
	b.url = serve(t, b.s.served(own))
	pods, secrets := kinds.Pod.Path(smithNS, ""), kinds.Secret.Path(smithNS, "")
	for _, c := range []struct {
		token, path string
		code        int
	}{
		{token, pods, 200}, {token, secrets, 403}, {own, secrets, 200}, {"", pods, http.StatusUnauthorized}, {token + "x", pods, http.StatusUnauthorized},
		{token[:len(token)-4], pods, http.StatusUnauthorized}, {"..", pods, http.StatusUnauthorized},
	} {
		if a := b.send("GET", c.path, "", "Authorization: Bearer "+c.token); a.code != c.code {
			t.Errorf("%.12s %s: %d, want %d", c.token, c.path, a.code, c.code)
		}
	}
	b.clock.move(2 * time.Hour)
	if a := b.send("GET", pods, "", "Authorization: Bearer "+token); a.code != http.StatusUnauthorized {
		t.Errorf("an expired token: %d", a.code)
	}
	m = b.must(201, "POST", kinds.ServiceAccount.Path(smithNS, "robot")+"/token", `{}`, "Authorization: Bearer "+own)
	b.must(200, "DELETE", kinds.ServiceAccount.Path(smithNS, "robot"), "", "Authorization: Bearer "+own)
	if a := b.send("GET", pods, "", "Authorization: Bearer "+object.Text(m, "status", "token")); a.code != http.StatusUnauthorized {
		t.Errorf("the token of a deleted account: %d", a.code)
	}
}

// kubectl drain cordons a node and evicts its pods. Their job gets new ones elsewhere.
func TestEviction(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("j", "smith", 1, 4))
	before := b.get(kinds.Pod, smithNS, "j-worker-0")
	node := object.Text(before, "spec", "nodeName")
	b.must(200, "PATCH", kinds.Node.Path("", node), `{"spec":{"unschedulable":true}}`, mergePatch)
	eviction := kinds.Pod.Path(smithNS, "j-worker-0") + "/eviction"
	b.must(201, "POST", "/apis/policy/v1/namespaces/"+smithNS+"/poddisruptionbudgets", `{"metadata":{"name":"keep"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"training.kubeflow.org/job-name":"j"}}}}`)
	a := b.send("POST", eviction, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"j-worker-0"}}`)
	if m := a.object(t); a.code != 429 || object.Text(m, "message") != "Cannot evict pod as it would violate the pod's disruption budget." {
		t.Errorf("%d %v", a.code, m)
	}
	b.must(200, "DELETE", "/apis/policy/v1/namespaces/"+smithNS+"/poddisruptionbudgets/keep", "")
	b.must(201, "POST", eviction, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"j-worker-0"}}`)
	after := b.get(kinds.Pod, smithNS, "j-worker-0")
	if object.Text(after, "metadata", "uid") == object.Text(before, "metadata", "uid") {
		t.Error("the pod is still there")
	}
	if n := object.Text(after, "spec", "nodeName"); n == node || n == "" {
		t.Errorf("the new pod is on %q", n)
	}
	if j := b.get(kinds.PyTorchJob.Resource, smithNS, "j"); !object.True(j, "Running") {
		t.Errorf("the job: %v", object.At(j, "status"))
	}
}

// TestRolesOfOperators: the roles that operators and Kueue bring cover every kind of job that the sandbox serves.
func TestRolesOfOperators(t *testing.T) {
	b := newBench(t, "john-smith")
	for user, role := range map[string]string{"viewer": "view", "editor": "edit", "admin": "admin", "batch": "kueue-batch-user-role"} {
		b.must(201, "POST", rbacPath+"namespaces/"+smithNS+"/rolebindings", `{"metadata":{"name":"`+user+`"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"`+role+`"},"subjects":[{"kind":"User","name":"`+user+`"}]}`)
	}
	for _, j := range kinds.Jobs() {
		path := j.Path(smithNS, "")
		if b.send("GET", path, "").code == http.StatusNotFound {
			continue // not served
		}
		users := []string{"viewer", "editor", "admin"}
		if strings.Contains(j.Framework(), "/") { // Kueue has an integration of its own
			users = append(users, "batch")
		}
		for _, user := range users {
			if a := b.send("GET", path, "", "Impersonate-User: "+user); a.code != http.StatusOK {
				t.Errorf("%s lists %s: %d %s", user, j.FullName(), a.code, a.body)
			}
			want := http.StatusNotFound
			if user == "viewer" {
				want = http.StatusForbidden
			}
			if a := b.send("DELETE", path+"/x", "", "Impersonate-User: "+user); a.code != want {
				t.Errorf("%s deletes %s: %d %s", user, j.FullName(), a.code, a.body)
			}
		}
	}
}
