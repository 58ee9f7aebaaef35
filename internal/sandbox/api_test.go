package sandbox

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

const (
	mergePatch     = "Content-Type: application/merge-patch+json"
	jsonPatch      = "Content-Type: application/json-patch+json"
	strategicPatch = "Content-Type: application/strategic-merge-patch+json"
	applyPatch     = "Content-Type: application/apply-patch+yaml"
)

// Errors have the code, reason and wording of an API server.
func TestErrors(t *testing.T) {
	b := newBench(t, "john-smith")
	const maps, jobs = "/api/v1/namespaces/default/configmaps", "/apis/batch/v1/namespaces/default/jobs"
	const torch = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
	b.must(201, "POST", maps, `{"metadata":{"name":"there"},"data":{"a":"b"}}`)
	for _, c := range []struct {
		name, method, path, body string
		header                   string
		code                     int
		reason, message          string
	}{
		{"absent", "GET", maps + "/x", "", "", 404, "NotFound", `configmaps "x" not found`},
		{"absent job", "GET", torch + "/x", "", "", 404, "NotFound", `pytorchjobs.kubeflow.org "x" not found`},
		{"unknown kind", "GET", "/api/v1/widgets", "", "", 404, "NotFound", "the server could not find the requested resource"},
		{"unknown group", "GET", "/apis/example.com/v1/widgets", "", "", 404, "NotFound", "the server could not find the requested resource"},
		{"unknown version", "GET", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues", "", "", 404, "NotFound", "the server could not find the requested resource"},
		{"exists", "POST", maps, `{"metadata":{"name":"there"}}`, "", 409, "AlreadyExists", `configmaps "there" already exists`},
		{"no namespace", "POST", "/api/v1/namespaces/nowhere/configmaps", `{"metadata":{"name":"x"}}`, "", 404, "NotFound", `namespaces "nowhere" not found`},
		{"bad name", "POST", maps, `{"metadata":{"name":"Not_OK"}}`, "", 422, "Invalid", `ConfigMap "Not_OK" is invalid: metadata.name: Invalid value: "Not_OK": a lowercase RFC 1123 subdomain must consist of`},
		{"no name", "POST", maps, `{"metadata":{}}`, "", 422, "Invalid", "metadata.name: Required value: name or generateName is required"},
		{"bad label", "POST", maps, `{"metadata":{"name":"x","labels":{"a b":"c"}}}`, "", 422, "Invalid", `metadata.labels: Invalid value: "a b"`},
		{"not JSON", "POST", maps, `{`, "", 400, "BadRequest", "could not be decoded"},
		{"wrong kind", "POST", maps, `{"kind":"Pod","apiVersion":"v1"}`, "", 400, "BadRequest", `cannot be handled as a ConfigMap`},
		{"wrong version", "POST", torch, `{"apiVersion":"kubeflow.org/v2","kind":"PyTorchJob"}`, "", 400, "BadRequest", "does not match the expected API version (kubeflow.org/v1)"},
		{"other namespace", "POST", maps, `{"metadata":{"name":"x","namespace":"kube-system"}}`, "", 400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request"},
		{"wrong type, built-in", "POST", maps, `{"metadata":{"name":"x"},"data":{"a":1}}`, "", 400, "BadRequest", "cannot be handled as a ConfigMap"},
		{"wrong type, custom", "POST", torch, `{"metadata":{"name":"x"},"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":"two"}}}}`, "", 422, "Invalid", `PyTorchJob.kubeflow.org "x" is invalid`},
		{"no roles", "POST", torch, `{"metadata":{"name":"x"},"spec":{}}`, "", 422, "Invalid", "spec.pytorchReplicaSpecs: Required value"},
		{"strict", "POST", torch + "?fieldValidation=Strict", `{"metadata":{"name":"x"},"spec":{"typo":1,"pytorchReplicaSpecs":{}}}`, "", 400, "BadRequest", `strict decoding error: unknown field "spec.typo"`},
		{"job without restart policy", "POST", jobs, `{"metadata":{"name":"x"},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}`, "", 422, "Invalid", `spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`},
		{"pod without image", "POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c"}]}}`, "", 422, "Invalid", "spec.containers[0].image: Required value"},
		{"old version", "PUT", maps + "/there", `{"metadata":{"name":"there","resourceVersion":"1"}}`, "", 409, "Conflict", `Operation cannot be fulfilled on configmaps "there": the object has been modified; please apply your changes to the latest version and try again`},
		{"other name", "PUT", maps + "/there", `{"metadata":{"name":"x"}}`, "", 400, "BadRequest", "the name of the object (x) does not match the name on the URL (there)"},
		{"body type", "POST", maps, `a=b`, "Content-Type: application/x-www-form-urlencoded", 415, "UnsupportedMediaType", "accepted media types include: application/json"},
		{"strategic on custom", "PATCH", torch + "/x", `{}`, strategicPatch, 415, "UnsupportedMediaType", "accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"},
		{"patch of nothing", "PATCH", maps + "/x", `{}`, mergePatch, 404, "NotFound", `configmaps "x" not found`},
		{"JSON patch that fails", "PATCH", maps + "/there", `[{"op":"remove","path":"/data/zzz"}]`, jsonPatch, 422, "Invalid", "the server rejected our request due to an error in our request"},
		{"precondition", "DELETE", maps + "/there", `{"preconditions":{"uid":"other"}}`, "", 409, "Conflict", "Precondition failed: UID in precondition: other"},
		{"protected namespace", "DELETE", "/api/v1/namespaces/default", ``, "", 403, "Forbidden", "this namespace may not be deleted"},
		{"field selector", "GET", maps + "?fieldSelector=data.a%3Db", "", "", 400, "BadRequest", "field label not supported: data.a"},
		{"label selector", "GET", maps + "?labelSelector=%3D%3D%3D", "", "", 400, "BadRequest", "unable to parse requirement"},
		{"limit", "GET", maps + "?limit=x", "", "", 400, "BadRequest", "limit"},
		{"continue", "GET", maps + "?limit=1&continue=%21", "", "", 400, "BadRequest", "continue key is not valid"},
		{"dry run", "POST", maps + "?dryRun=Some", `{"metadata":{"name":"x"}}`, "", 400, "BadRequest", "dryRun"},
		{"method", "POST", maps + "/there", `{}`, "", 405, "MethodNotAllowed", `POST is not supported on resources of kind "configmaps"`},
		{"too new", "GET", maps + "?resourceVersion=999999", "", "", 504, "Timeout", "Too large resource version"},
		{"accept", "GET", maps, "", "Accept: text/html", 406, "NotAcceptable", "only the following media types are accepted"},
		{"immutable", "PATCH", "/apis/kueue.x-k8s.io/v1beta2/namespaces/hyperpod-ns-john/localqueues/hyperpod-ns-john-localqueue", `{"spec":{"clusterQueue":"x"}}`, mergePatch, 422, "Invalid", `spec.clusterQueue: Invalid value: "x": field is immutable`},
		{"exec", "POST", "/api/v1/namespaces/default/pods/x/exec", ``, "", 404, "NotFound", "not found"},
		{"attach", "POST", "/api/v1/namespaces/default/pods/x/attach", ``, "", 400, "BadRequest", "runs no processes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var headers []string
			if c.header != "" {
				headers = append(headers, c.header)
			}
			a := b.send(c.method, c.path, c.body, headers...)
			m := a.object(t)
			if a.code != c.code || object.Text(m, "kind") != "Status" || object.Text(m, "status") != "Failure" ||
				c.reason != "" && object.Text(m, "reason") != c.reason || !strings.Contains(object.Text(m, "message"), c.message) {
				t.Errorf("%d %s %s", a.code, object.Text(m, "reason"), object.Text(m, "message"))
			}
			if n, _ := object.Int(m, "code"); int(n) != a.code {
				t.Errorf("code in the body is %d, of the answer %d", n, a.code)
			}
		})
	}
	causes := object.List(b.send("POST", maps, `{"metadata":{"name":"Not_OK"}}`).object(t), "details", "causes")
	if len(causes) != 1 || object.Text(causes[0], "field") != "metadata.name" {
		t.Errorf("causes %v", causes)
	}
}

// What the server fills in, and how an object changes.
func TestObjectLife(t *testing.T) {
	b := newBench(t, "john-smith")
	torch := kinds.PyTorchJob.Path("default", "")
	job := pytorch("j", "x", 1, 1)
	object.Map(job, "metadata")["labels"] = map[string]any{"a": "1"}
	made := b.must(201, "POST", torch, mustJSON(t, job))
	if object.Text(made, "metadata", "uid") == "" || object.Text(made, "metadata", "creationTimestamp") != "2026-11-21T12:00:00Z" ||
		object.At(made, "metadata", "generation") != int64(1) || object.Text(made, "metadata", "namespace") != "default" {
		t.Errorf("metadata %v", made["metadata"])
	}
	// A change of labels is no new generation, a change of the spec is; the
	// resource version grows with both.
	labelled := b.must(200, "PATCH", torch+"/j", `{"metadata":{"labels":{"a":null,"b":"2"}}}`, mergePatch)
	if object.At(labelled, "metadata", "generation") != int64(1) || fmt.Sprint(object.At(labelled, "metadata", "labels")) != "map[b:2]" {
		t.Errorf("metadata %v", labelled["metadata"])
	}
	scaled := b.must(200, "PATCH", torch+"/j", `[{"op":"replace","path":"/spec/pytorchReplicaSpecs/Worker/replicas","value":2}]`, jsonPatch)
	if object.At(scaled, "metadata", "generation") != int64(2) || rv(scaled) <= rv(labelled) || rv(labelled) <= rv(made) {
		t.Errorf("generation %v, versions %d %d %d", object.At(scaled, "metadata", "generation"), rv(made), rv(labelled), rv(scaled))
	}
	if p := b.podPhases("default", "j"); len(p) != 2 {
		t.Errorf("pods after scaling: %v", p)
	}
	// The status is apart: the main resource ignores it, the subresource takes
	// nothing else.
	current := b.get(kinds.PyTorchJob.Resource, "default", "j")
	same := b.must(200, "PATCH", torch+"/j", `{"status":{"startTime":"2020-01-01T00:00:00Z"}}`, mergePatch)
	if object.Text(same, "status", "startTime") != object.Text(current, "status", "startTime") || rv(same) != rv(current) {
		t.Errorf("the status changed: %v", same["status"])
	}
	status := b.must(200, "PATCH", kinds.PyTorchJob.Path("default", "j", "status"), `{"status":{"restarts":3},"spec":{"runPolicy":{"suspend":true}}}`, mergePatch)
	if object.At(status, "status", "restarts") != int64(3) || object.Bool(status, "spec", "runPolicy", "suspend") {
		t.Errorf("status subresource: %v", status)
	}
	// A dry run says what would be, and changes nothing.
	before := b.must(200, "GET", torch, "")
	b.must(201, "POST", torch+"?dryRun=All", mustJSON(t, pytorch("dry", "x", 1, 1)))
	b.must(200, "PATCH", torch+"/j?dryRun=All", `{"metadata":{"labels":{"c":"3"}}}`, mergePatch)
	b.must(200, "DELETE", torch+"/j?dryRun=All", "")
	if after := b.must(200, "GET", torch, ""); object.Text(after, "metadata", "resourceVersion") != object.Text(before, "metadata", "resourceVersion") {
		t.Error("a dry run changed something")
	}
	// generateName makes names that differ.
	names := map[string]bool{}
	for range 3 {
		m := b.must(201, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"generateName":"cm-"}}`)
		names[object.Text(m, "metadata", "name")] = strings.HasPrefix(object.Text(m, "metadata", "name"), "cm-")
	}
	if len(names) != 3 {
		t.Errorf("names %v", names)
	}
	// A unknown field is a warning unless the client is strict.
	object.Map(job, "metadata")["name"] = "warned"
	object.Map(job, "spec")["typo"] = 1
	if a := b.send("POST", torch, mustJSON(t, job)); a.code != 201 || !strings.Contains(a.header.Get("Warning"), `unknown field \"spec.typo\"`) {
		t.Errorf("%d %v", a.code, a.header)
	}
	if a := b.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"create","resource":"pods"}}}`); a.code != 201 ||
		!object.Bool(a.object(t), "status", "allowed") {
		t.Errorf("%d %s", a.code, a.body)
	}
}

func rv(m map[string]any) int {
	n := 0
	_, _ = fmt.Sscan(object.Text(m, "metadata", "resourceVersion"), &n)
	return n
}

// Patches of built-in kinds merge lists by key, and server-side apply creates or
// merges.
func TestPatches(t *testing.T) {
	b := newBench(t, "john-smith")
	const path = "/api/v1/namespaces/default/pods/p"
	b.must(201, "POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]}}`)
	m := b.must(200, "PATCH", path, `{"spec":{"containers":[{"name":"b","image":"3"}]}}`, strategicPatch)
	if c := object.List(m, "spec", "containers"); len(c) != 2 || object.Text(c[0], "image") != "1" || object.Text(c[1], "image") != "3" {
		t.Errorf("containers %v", c)
	}
	const apply = "/api/v1/namespaces/default/configmaps/c?fieldManager=me"
	b.must(200, "PATCH", apply, "metadata: {name: c}\ndata: {a: '1'}", applyPatch)
	m = b.must(200, "PATCH", apply, "metadata: {name: c}\ndata: {b: '2'}", applyPatch)
	if fmt.Sprint(m["data"]) != "map[a:1 b:2]" {
		t.Errorf("data %v", m["data"])
	}
	m = b.must(200, "PUT", "/api/v1/namespaces/default/configmaps/c", `{"metadata":{"name":"c"},"data":{"z":"9"}}`)
	if fmt.Sprint(m["data"]) != "map[z:9]" {
		t.Errorf("data %v", m["data"])
	}
}

func TestDeletion(t *testing.T) {
	b := newBench(t, "john-smith")
	const maps = "/api/v1/namespaces/default/configmaps"
	owner := b.must(201, "POST", maps, `{"metadata":{"name":"owner"}}`)
	owned := func(name string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":%q}]}}`, name, object.Text(owner, "metadata", "uid"))
	}
	b.must(201, "POST", maps, owned("child"))
	m := b.must(200, "DELETE", maps+"/owner", `{"propagationPolicy":"Orphan"}`)
	if object.Text(m, "status") != "Success" || object.Text(m, "details", "uid") != object.Text(owner, "metadata", "uid") {
		t.Errorf("answer %v", m)
	}
	if child := b.must(200, "GET", maps+"/child", ""); object.At(child, "metadata", "ownerReferences") != nil {
		t.Errorf("the orphan still has an owner: %v", child)
	}
	owner = b.must(201, "POST", maps, `{"metadata":{"name":"owner"}}`)
	b.must(201, "POST", maps, owned("second"))
	b.must(200, "DELETE", maps+"/owner", "")
	b.must(404, "GET", maps+"/second", "")
	// Finalizers hold an object until they are gone.
	b.must(201, "POST", maps, `{"metadata":{"name":"held","finalizers":["example.com/x"]}}`)
	if m := b.must(200, "DELETE", maps+"/held", ""); object.Text(m, "metadata", "deletionTimestamp") == "" {
		t.Errorf("answer %v", m)
	}
	b.must(200, "GET", maps+"/held", "")
	b.must(200, "PATCH", maps+"/held", `{"metadata":{"finalizers":null}}`, mergePatch)
	b.must(404, "GET", maps+"/held", "")
	// A collection by label; a namespace with all that is in it.
	for _, n := range []string{"x", "y"} {
		b.must(201, "POST", maps, fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"gone":"yes"}}}`, n))
	}
	if got := b.must(200, "DELETE", maps+"?labelSelector=gone%3Dyes", ""); len(object.List(got, "items")) != 2 {
		t.Errorf("deleted %v", got)
	}
	if left := b.items(maps); len(left) != 1 || object.Text(left[0], "metadata", "name") != "child" {
		t.Errorf("left %v", left)
	}
	b.must(201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"temp"}}`)
	b.must(201, "POST", "/api/v1/namespaces/temp/configmaps", `{"metadata":{"name":"c"}}`)
	b.must(200, "DELETE", "/api/v1/namespaces/temp", "")
	b.must(404, "GET", "/api/v1/namespaces/temp/configmaps/c", "")
}

func TestLists(t *testing.T) {
	b := newBench(t, "john-smith")
	const maps = "/api/v1/namespaces/default/configmaps"
	for i := range 7 {
		b.must(201, "POST", maps, fmt.Sprintf(`{"metadata":{"name":"c%d","labels":{"n":"%d"}}}`, i, i%2))
	}
	if got := b.items(maps + "?labelSelector=n+in+(1)"); len(got) != 3 {
		t.Errorf("%d with the label", len(got))
	}
	if got := b.items(maps + "?fieldSelector=metadata.name%3Dc3"); len(got) != 1 {
		t.Errorf("%d with the name", len(got))
	}
	if got := b.items("/api/v1/configmaps"); len(got) != 8 { // and the scheduler's
		t.Errorf("%d in all namespaces", len(got))
	}
	var names []string
	token, pages := "", 0
	for {
		page := b.must(200, "GET", maps+"?limit=3&continue="+token, "")
		for _, i := range object.List(page, "items") {
			names = append(names, object.Text(i, "metadata", "name"))
		}
		pages++
		if left, ok := object.Int(page, "metadata", "remainingItemCount"); ok && int(left) != 7-len(names) {
			t.Errorf("%d left after %d", left, len(names))
		}
		if token = object.Text(page, "metadata", "continue"); token == "" {
			break
		}
	}
	if fmt.Sprint(names) != "[c0 c1 c2 c3 c4 c5 c6]" || pages != 3 {
		t.Errorf("%v in %d pages", names, pages)
	}
	m := b.must(200, "GET", maps, "", "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json")
	first := object.Map(object.List(m, "items")[0])
	if object.Text(m, "kind") != "PartialObjectMetadataList" || first["data"] != nil || object.Text(first, "metadata", "name") != "c0" {
		t.Errorf("metadata list %v", m)
	}
	a := b.send("GET", maps+"/c0", "", "Accept: application/yaml")
	if a.header.Get("Content-Type") != "application/yaml" || !strings.Contains(string(a.body), "kind: ConfigMap\n") {
		t.Errorf("%s: %s", a.header.Get("Content-Type"), a.body)
	}
	table := b.must(200, "GET", kinds.Workload.Path("", ""), "", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
	var columns []string
	for _, c := range object.List(table, "columnDefinitions") {
		columns = append(columns, object.Text(c, "name"))
	}
	if fmt.Sprint(columns) != "[Name Queue Reserved in Admitted Finished Age]" {
		t.Errorf("columns %v", columns)
	}
}

func TestDiscovery(t *testing.T) {
	b := newBench(t, "john-smith")
	groups := map[string]int{}
	for _, g := range object.List(b.must(200, "GET", "/apis", ""), "groups") {
		groups[object.Text(g, "name")]++
		for _, v := range object.List(g, "versions") {
			b.must(200, "GET", "/apis/"+object.Text(v, "groupVersion"), "")
			b.must(200, "GET", "/openapi/v3/apis/"+object.Text(v, "groupVersion"), "")
		}
		b.must(200, "GET", "/apis/"+object.Text(g, "name"), "")
	}
	for g, n := range groups {
		if n != 1 {
			t.Errorf("group %s is listed %d times", g, n)
		}
	}
	agg := b.must(200, "GET", "/apis", "", "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	if len(object.List(agg, "items")) != len(groups) {
		t.Errorf("%d groups in aggregated discovery, %d else", len(object.List(agg, "items")), len(groups))
	}
	for _, k := range kinds.Jobs() {
		found := false
		for _, r := range object.List(b.must(200, "GET", path.Dir(k.Path("", "")), ""), "resources") {
			found = found || object.Text(r, "name") == k.Plural && object.Text(r, "kind") == k.Kind
		}
		if !found {
			t.Errorf("%s is not discovered", k.Kind)
		}
	}
	if v := b.must(200, "GET", "/version", ""); !strings.HasPrefix(object.Text(v, "gitVersion"), "v1.35") {
		t.Errorf("version %v", v)
	}
	for _, p := range []string{"/openapi/v2", "/openapi/v3", "/", "/api"} {
		b.must(200, "GET", p, "")
	}
	if a := b.send("GET", "/healthz", ""); a.code != 200 || string(a.body) != "ok" {
		t.Errorf("healthz %d %s", a.code, a.body)
	}
}

// What a browser sends for somebody else's page is refused.
func TestLocalOnly(t *testing.T) {
	b := newBench(t, "john-smith")
	b.url = serve(t, localOnly(b.s))
	b.must(200, "GET", "/version", "")
	if a := b.send("GET", "/version", "", "Origin: http://example.com"); a.code != http.StatusForbidden {
		t.Errorf("with an origin: %d", a.code)
	}
	r, _ := http.NewRequest("GET", b.url+"/version", nil)
	r.Host = "rebound.example.com"
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("with another host name: %d", res.StatusCode)
	}
}
