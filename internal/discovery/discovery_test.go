package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// fake is an API server of a few answers: by path the JSON, or an HTTP status.
// Access reviews are answered by allowed, a list of "verb resource namespace".
type fake struct {
	t       *testing.T
	answers map[string]any
	allowed []string

	mu    sync.Mutex
	asked []string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked = append(f.asked, r.Method+" "+r.URL.RequestURI())
	f.mu.Unlock()
	answer, ok := f.answers[r.URL.Path]
	if r.Method == http.MethodPost {
		if code, refused := answer.(int); refused {
			f.refuse(w, r, code)
			return
		}
		f.review(w, r)
		return
	}
	switch a := answer.(type) {
	case string:
		fmt.Fprint(w, a)
	case int:
		f.refuse(w, r, a)
	default:
		if ok {
			f.t.Errorf("answer of %s: %T", r.URL.Path, a)
		}
		f.refuse(w, r, http.StatusNotFound)
	}
}

// notInFile is the answer of a file that does not have a kind.
const notInFile = -1

func (f *fake) refuse(w http.ResponseWriter, r *http.Request, code int) {
	if code == notInFile {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"kind":"Status","code":403,"reason":%q,"message":"the file has none"}`, kube.NotInFile)
		return
	}
	if code == http.StatusNotFound && strings.HasPrefix(r.URL.Path, "/apis/") {
		http.Error(w, "404 page not found", code)
		return
	}
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","code":%d,"reason":%q,"message":"User \"u\" cannot get it","details":{"name":%q,"kind":"namespaces"}}`,
		code, map[int]string{403: "Forbidden", 404: "NotFound", 500: "InternalError"}[code], name)
}

func (f *fake) review(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Spec struct {
			ResourceAttributes struct{ Verb, Group, Resource, Namespace string } `json:"resourceAttributes"`
		} `json:"spec"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		f.t.Error(err)
	}
	a := body.Spec.ResourceAttributes
	fmt.Fprintf(w, `{"status":{"allowed":%v}}`, slices.Contains(f.allowed, a.Verb+" "+a.Resource+"."+a.Group+" "+a.Namespace))
}

func (f *fake) client() *kube.Client {
	srv := httptest.NewServer(f)
	f.t.Cleanup(srv.Close)
	c, err := kube.New(&rest.Config{Host: srv.URL}, kube.Options{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func items(list ...string) string {
	return fmt.Sprintf(`{"kind":"List","items":[%s]}`, strings.Join(list, ","))
}

func managedNamespace(name, team string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"sagemaker.amazonaws.com/sagemaker-managed-queue":"true","sagemaker.amazonaws.com/quota-allocation-id":%q}}}`, name, team)
}

func mustSay(t *testing.T, err error, code errs.Exit, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	text := errs.Text(err, false)
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
	if got := errs.ExitOf(err); got != code {
		t.Errorf("exit code %d, want %d\n%s", got, code, text)
	}
}

func TestNamespace(t *testing.T) {
	const team = "hyperpod-ns-ml"
	two := items(managedNamespace("hyperpod-ns-b", "b"), managedNamespace(team, "ml"))
	may := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, "create pytorchjobs.kubeflow.org "+n)
		}
		return out
	}
	const queues = "/apis/kueue.x-k8s.io/v1beta2/localqueues"
	queueIn := func(namespace string) string {
		return fmt.Sprintf(`{"metadata":{"name":"q","namespace":%q}}`, namespace)
	}
	tests := []struct {
		name     string
		answers  map[string]any
		allowed  []string
		query    NamespaceQuery
		want     string // name source managed team
		requests int
		code     errs.Exit
		says     []string
	}{
		{name: "flag", query: NamespaceQuery{Flag: team, ContextNamespace: "other"}, answers: map[string]any{"/api/v1/namespaces/" + team: managedNamespace(team, "ml")},
			want: team + " flag true ml", requests: 1},
		{name: "flag, an ordinary namespace", query: NamespaceQuery{Flag: "plain"}, answers: map[string]any{"/api/v1/namespaces/plain": `{"metadata":{"name":"plain"}}`},
			want: "plain flag false ", requests: 1},
		{name: "flag, may not read it", query: NamespaceQuery{Flag: team}, answers: map[string]any{"/api/v1/namespaces/" + team: 403},
			want: team + " flag false ", requests: 1},
		{name: "flag, does not exist", query: NamespaceQuery{Flag: "hyperpod-ns-m"}, answers: map[string]any{"/api/v1/namespaces": two},
			requests: 2, code: errs.NotFound, says: []string{`namespace "hyperpod-ns-m" not found`, "did you mean:  hyperpod-ns-ml"}},
		{name: "flag, does not exist, names unknown", query: NamespaceQuery{Flag: "x"}, answers: map[string]any{"/api/v1/namespaces": 403},
			requests: 2, code: errs.NotFound, says: []string{`namespace "x" not found`}},
		{name: "flag, server broken", query: NamespaceQuery{Flag: "x"}, answers: map[string]any{"/api/v1/namespaces/x": 500},
			requests: 1, code: errs.Failure, says: []string{"HTTP 500"}},
		{name: "context", query: NamespaceQuery{ContextNamespace: team, ContextName: "dev"}, answers: map[string]any{"/api/v1/namespaces/" + team: managedNamespace(team, "ml")},
			want: team + " context true ml", requests: 1},
		{name: "context, does not exist", query: NamespaceQuery{ContextNamespace: "gone", ContextName: "dev"}, answers: map[string]any{},
			requests: 2, code: errs.NotFound, says: []string{`namespace "gone" not found`, `named by:  context "dev" of the kubeconfig`, "--namespace NAME"}},
		{name: "discovery, one", answers: map[string]any{"/api/v1/namespaces": two}, allowed: may(team),
			want: team + " discovery true ml", requests: 3},
		{name: "discovery, several", answers: map[string]any{"/api/v1/namespaces": two}, allowed: may(team, "hyperpod-ns-b"),
			requests: 3, code: errs.Usage, says: []string{"no namespace given: you have access to 2 namespaces", "available:  hyperpod-ns-b, hyperpod-ns-ml", "--namespace NAME"}},
		{name: "discovery, none allowed", answers: map[string]any{"/api/v1/namespaces": two},
			requests: 3, code: errs.Failure, says: []string{"you have no permission to create pytorchjobs in a team namespace", "administrator"}},
		{name: "discovery, none managed", answers: map[string]any{"/api/v1/namespaces": items()},
			requests: 2, code: errs.Failure, says: []string{"the cluster has no team namespace", "--namespace NAME"}},
		{name: "discovery, none managed, one with queues", answers: map[string]any{"/api/v1/namespaces": items(), "/apis/kueue.x-k8s.io": kueueGroup, queues: items(queueIn("research"), queueIn("research"), queueIn("other"))},
			allowed: may("research"), want: "research discovery false ", requests: 5},
		{name: "discovery, none managed, several with queues", answers: map[string]any{"/api/v1/namespaces": items(), "/apis/kueue.x-k8s.io": kueueGroup, queues: items(queueIn("research"), queueIn("other"))},
			allowed: may("research", "other"), requests: 5, code: errs.Usage, says: []string{"available:  other, research"}},
		{name: "discovery, none managed, queues hidden", answers: map[string]any{"/api/v1/namespaces": items(), "/apis/kueue.x-k8s.io": kueueGroup, queues: 403},
			requests: 3, code: errs.Failure, says: []string{"the cluster has no team namespace"}},
		{name: "discovery, forbidden", answers: map[string]any{"/api/v1/namespaces": 403},
			requests: 1, code: errs.Denied, says: []string{"no namespace given: cannot list namespaces: permission denied", "--namespace NAME"}},
		{name: "discovery, a review fails", answers: map[string]any{"/api/v1/namespaces": two, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": 500},
			requests: 3, code: errs.Failure, says: []string{"HTTP 500"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{t: t, answers: tt.answers, allowed: tt.allowed}
			c := f.client()
			tt.query.Verb, tt.query.Resource = "create", kinds.PyTorchJob.Resource
			got, err := Namespace(t.Context(), c, tt.query)
			if c.Requests() != tt.requests {
				t.Errorf("%d requests: %s", c.Requests(), f.asked)
			}
			if tt.code != errs.OK {
				mustSay(t, err, tt.code, tt.says...)
				return
			}
			if s := fmt.Sprintf("%s %s %v %s", got.Name, got.Source, got.Managed, got.Team); err != nil || s != tt.want {
				t.Errorf("got %s, %v", s, err)
			}
			if (got.Source == FromDiscovery) != (len(got.Notes) == 1) {
				t.Errorf("notes %+v", got.Notes)
			}
		})
	}
}

// noteText is a note without the namespace: code, name, stop policy, and what is available.
func noteText(notes []Note) string {
	var out []string
	for _, n := range notes {
		out = append(out, string(n.Code))
		for _, s := range []string{n.Name, n.StopPolicy} {
			if s != "" {
				out = append(out, s)
			}
		}
		if n.Available != nil {
			out = append(out, fmt.Sprint(n.Available))
		}
		if n.NotInFile {
			out = append(out, "in file")
		}
	}
	return strings.Join(out, " ")
}

func TestNamespaceAsksForManagedOnes(t *testing.T) {
	f := &fake{t: t, answers: map[string]any{"/api/v1/namespaces": items(managedNamespace("b", "b"), managedNamespace("a", "a"))}, allowed: []string{"list pods. a", "list pods. b"}}
	got, err := AccessibleNamespaces(t.Context(), f.client(), "list", kinds.Pod)
	if err != nil || fmt.Sprint(got) != "[a b]" {
		t.Errorf("got %v, %v", got, err)
	}
	if f.asked[0] != "GET /api/v1/namespaces?labelSelector=sagemaker.amazonaws.com%2Fsagemaker-managed-queue%3Dtrue" {
		t.Errorf("asked %s", f.asked[0])
	}
}

const kueueGroup = `{"versions":[{"version":"v1beta2"}],"preferredVersion":{"version":"v1beta2"}}`

func localQueue(name, clusterQueue, stop string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"clusterQueue":%q,"stopPolicy":%q}}`, name, clusterQueue, stop)
}

func TestQueue(t *testing.T) {
	const path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/team/localqueues"
	with := func(v any) map[string]any {
		return map[string]any{"/apis/kueue.x-k8s.io": kueueGroup, path: v}
	}
	managed := NamespaceChoice{Name: "team", Managed: true, Team: "ml"}
	plain := NamespaceChoice{Name: "team"}
	mine := localQueue("hyperpod-ns-ml-localqueue", "hyperpod-ns-ml-clusterqueue", "")
	tests := []struct {
		name    string
		answers map[string]any
		ns      NamespaceChoice
		flag    string
		want    string // name clusterQueue source
		note    string
		code    errs.Exit
		says    []string
	}{
		{name: "managed, among others", answers: with(items(localQueue("other", "x", ""), mine)), ns: managed, want: "hyperpod-ns-ml-localqueue hyperpod-ns-ml-clusterqueue managed"},
		{name: "managed, under another name", answers: with(items(localQueue("other", "x", ""))), ns: managed, want: "other x only"},
		{name: "the only one", answers: with(items(localQueue("other", "x", "None"))), ns: plain, want: "other x only"},
		{name: "several", answers: with(items(localQueue("a", "x", ""), localQueue("b", "x", ""))), ns: plain, want: "  none", note: "SeveralQueues [a b]"},
		{name: "none", answers: with(items()), ns: plain, want: "  none", note: "NoQueue"},
		{name: "flag", answers: with(items(localQueue("other", "x", ""), mine)), ns: managed, flag: "other", want: "other x flag"},
		{name: "flag, stopped", answers: with(items(localQueue("other", "x", "Hold"))), ns: plain, flag: "other", want: "other x flag", note: "QueueStopped other Hold"},
		{name: "flag, unknown", answers: with(items(localQueue("training", "x", ""))), ns: plain, flag: "trainin", code: errs.NotFound, says: []string{`queue "trainin" not found in namespace team`, "available:  training", "--queue-name training"}},
		{name: "another queue, of one", answers: with(items(localQueue("training", "x", ""))), ns: plain, flag: "user-queue", code: errs.NotFound, says: []string{"available:  training", "--queue-name training"}},
		{name: "flag, there are none", answers: with(items()), ns: plain, flag: "x", code: errs.NotFound, says: []string{"available:  none"}},
		{name: "forbidden, managed", answers: with(403), ns: managed, want: "hyperpod-ns-ml-localqueue hyperpod-ns-ml-clusterqueue managed", note: "QueueAssumed hyperpod-ns-ml-localqueue"},
		{name: "forbidden, flag", answers: with(403), ns: managed, flag: "x", want: "x  flag", note: "QueueUnchecked x"},
		{name: "forbidden, ordinary", answers: with(403), ns: plain, want: "  none", note: "QueuesUnreadable"},
		{name: "not in the file", answers: with(notInFile), ns: plain, want: "  none", note: "QueuesUnreadable in file"},
		{name: "not in the file, flag", answers: with(notInFile), ns: plain, flag: "x", want: "x  flag", note: "QueueUnchecked x in file"},
		{name: "no Kueue", answers: nil, ns: plain, want: "  none", note: "NoKueue"},
		{name: "no Kueue, flag", answers: nil, ns: plain, flag: "x", code: errs.NotFound, says: []string{"this cluster has no Kueue"}},
		{name: "broken", answers: with(500), ns: plain, code: errs.Failure, says: []string{"HTTP 500"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{t: t, answers: tt.answers}
			got, err := Queue(t.Context(), f.client(), tt.ns, tt.flag)
			if tt.code != errs.OK {
				mustSay(t, err, tt.code, tt.says...)
				return
			}
			if s := fmt.Sprintf("%s %s %s", got.Name, got.ClusterQueue, got.Source); err != nil || s != tt.want {
				t.Errorf("got %q, %v", s, err)
			}
			if notes := noteText(got.Notes); notes != tt.note {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

func TestPriority(t *testing.T) {
	const path = "/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses"
	with := func(v any) map[string]any {
		return map[string]any{"/apis/kueue.x-k8s.io": kueueGroup, path: v}
	}
	class := func(name string, value int) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"value":%d}`, name, value)
	}
	classes := with(items(class("training-priority", 40), class("inference-priority", 100), class("plain", 50), class("fine-tuning-priority", 80)))
	tests := []struct {
		name    string
		answers map[string]any
		flag    string
		want    string // name value
		note    string
		text    string
	}{
		{name: "short", answers: classes, flag: "training", want: "training-priority 40"},
		{name: "whole", answers: classes, flag: "training-priority", want: "training-priority 40"},
		{name: "without the ending", answers: classes, flag: "plain", want: "plain 50"},
		{name: "absent", answers: classes, want: " 0", note: "NoPriority"},
		{name: "forbidden", answers: with(403), flag: "urgent", want: "urgent 0", note: "PriorityUnchecked urgent"},
		{name: "not in the file", answers: with(notInFile), flag: "urgent", want: "urgent 0", note: "PriorityUnchecked urgent in file"},
		{name: "no Kueue", flag: "urgent", want: "urgent 0", note: "PriorityNoKueue urgent"},
		{name: "unknown", answers: classes, flag: "urgent", text: `Error: priority class "urgent" not found
  available:  inference (100), fine-tuning (80), plain (50), training (40)
`},
		{name: "nearly", answers: classes, flag: "trainning", text: `Error: priority class "trainning" not found
  available:  inference (100), fine-tuning (80), plain (50), training (40)
  try:        --priority training
`},
		{name: "none", answers: with(items()), flag: "urgent", text: `Error: priority class "urgent" not found
  available:  none
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{t: t, answers: tt.answers}
			got, err := Priority(t.Context(), f.client(), tt.flag)
			if tt.text != "" {
				if err == nil || errs.Text(err, false) != tt.text {
					t.Errorf("got %v", err)
				}
				return
			}
			if s := fmt.Sprintf("%s %d", got.Name, got.Value); err != nil || s != tt.want {
				t.Errorf("got %q, %v", s, err)
			}
			if notes := noteText(got.Notes); notes != tt.note {
				t.Errorf("notes %q", notes)
			}
		})
	}
	f := &fake{t: t, answers: with(500)}
	if _, err := Priority(t.Context(), f.client(), "x"); err == nil {
		t.Error("a broken server gives no error")
	}
}

func TestServedJobs(t *testing.T) {
	f := &fake{t: t, answers: map[string]any{"/apis/kubeflow.org": `{"versions":[{"version":"v1"},{"version":"v2beta1"}],"preferredVersion":{"version":"v1"}}`}}
	got, err := ServedJobs(t.Context(), f.client())
	var names []string
	for _, j := range got {
		names = append(names, j.Kind)
	}
	if err != nil || fmt.Sprint(names) != "[PyTorchJob MPIJob Job TFJob XGBoostJob JAXJob PaddleJob Deployment StatefulSet Pod Notebook]" {
		t.Errorf("got %v, %v", names, err)
	}
}

func TestResourceOf(t *testing.T) {
	f := &fake{t: t, answers: map[string]any{"/apis/example.com/v1": `{"kind":"APIResourceList","resources":[{"name":"widgets","kind":"Widget","namespaced":true},{"name":"widgets/status","kind":"Widget","namespaced":true}]}`}}
	c := f.client()
	get := func(apiVersion, kind string) (kinds.Resource, error) {
		return ResourceOf(t.Context(), c, map[string]any{"apiVersion": apiVersion, "kind": kind})
	}
	if r, err := get("kubeflow.org/v1", "PyTorchJob"); err != nil || r.Plural != "pytorchjobs" || c.Requests() != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err := get("example.com/v1", "Widget"); err != nil || r.Plural != "widgets" || !r.Namespaced || r.GroupVersion() != "example.com/v1" {
		t.Errorf("got %+v, %v", r, err)
	}
	_, err := get("example.com/v1", "Wiget")
	mustSay(t, err, errs.NotFound, "kind Wiget not found in", "did you mean:  Widget")
	_, err = get("other.com/v1", "X")
	mustSay(t, err, errs.NotFound, "does not serve other.com/v1")
}

// An operator's kinds are served where it is installed, at its versions.
func TestOffered(t *testing.T) {
	list := func(kinds string) string { return `{"kind":"APIResourceList","resources":[` + kinds + `]}` }
	rayJob := `{"name":"rayjobs","kind":"RayJob","namespaced":true}`
	f := &fake{t: t, answers: map[string]any{
		"/apis/ray.io":               `{"versions":[{"version":"v1"},{"version":"v1alpha1"}],"preferredVersion":{"version":"v1"}}`,
		"/apis/ray.io/v1":            list(rayJob),
		"/apis/ray.io/v1alpha1":      list(rayJob + `,{"name":"rayclusters","kind":"RayCluster","namespaced":true}`),
		"/apis/kubeflow.org":         `{"versions":[{"version":"v2beta1"}],"preferredVersion":{"version":"v2beta1"}}`,
		"/apis/kubeflow.org/v2beta1": list(`{"name":"mpijobs","kind":"MPIJob","namespaced":true}`),
	}}
	c := f.client()
	get := func(apiVersion, kind string) (kinds.Resource, error) {
		return Offered(t.Context(), c, map[string]any{"apiVersion": apiVersion, "kind": kind})
	}
	if r, err := get("ray.io/v1", "RayJob"); err != nil || r.FullName() != "rayjobs.ray.io" {
		t.Errorf("got %+v, %v", r, err)
	}
	_, err := get("ray.io/v1", "RayCluster")
	mustSay(t, err, errs.NotFound, "kind RayCluster not found in ray.io/v1", "the cluster serves RayCluster of ray.io/v1alpha1")
	_, err = get("jobset.x-k8s.io/v1alpha2", "JobSet")
	mustSay(t, err, errs.NotFound, "does not serve jobset.x-k8s.io/v1alpha2 (JobSet)")
	_, err = get("kubeflow.org/v1", "MPIJob")
	mustSay(t, err, errs.NotFound, "does not serve kubeflow.org/v1", "the cluster serves MPIJob of kubeflow.org/v2beta1")
}

// Without permission to list namespaces, a service account works in its own.
func TestServiceAccountNamespace(t *testing.T) {
	for user, want := range map[string]string{"system:serviceaccount:team-a:smith": "team-a", "smith": ""} {
		c := kube.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"kind":"Status","code":403,"reason":"Forbidden","message":"namespaces is forbidden: User \"%s\" cannot list resource"}`, user)
		}), "test", kube.Options{})
		got, err := Namespace(t.Context(), c, NamespaceQuery{Verb: "list", Resource: kinds.PyTorchJob.Resource})
		if got.Name != want || (err == nil) != (want != "") {
			t.Errorf("%s: %+v, %v", user, got, err)
		}
	}
}
