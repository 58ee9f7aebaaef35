package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/permissions"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestSkew: the server's time is in whole seconds and was written at some moment of the
// request, which alone makes no skew.
func TestSkew(t *testing.T) {
	noon := fixture.Noon
	for _, c := range []struct {
		sent, received, date time.Duration // after noon
		want                 time.Duration
		status               Status
	}{
		{0, 0, 0, 0, OK},
		{900 * time.Millisecond, time.Second, 0, 0, OK},
		{0, 3 * time.Second, 2 * time.Second, 0, OK},
		{41 * time.Second, 42 * time.Second, 0, 40 * time.Second, Warn},
		{0, time.Second, 11 * time.Second, -10 * time.Second, OK},
		{0, time.Second, 10 * time.Minute, -(10*time.Minute - time.Second), Fail},
		{time.Hour, time.Hour, 0, time.Hour - time.Second, Fail},
	} {
		got := skewOf(kube.Ping{Sent: noon.Add(c.sent), Received: noon.Add(c.received), Date: noon.Add(c.date)})
		if d := clock(got); got != c.want || d.Status != c.status {
			t.Errorf("%v: %s %s", c, got, d.Status)
		}
	}
}

// TestHang: a server that never answers, and does not notice the end of a request, delays
// nothing; every examination has a diagnosis.
func TestHang(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	c := kube.NewInProcess(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }), "test", kube.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := Subject{Client: c, Live: true, Now: time.Now, Namespace: func(context.Context) (string, error) { return "t", nil }}
	d := Document{Schema: Schema}
	Examine(ctx, s, &d)
	d.Close()
	if d.Status != Fail || len(d.Diagnoses) != len(codesOf(partsOf(s))) {
		t.Errorf("%s: %+v", d.Status, d.Diagnoses)
	}
	for _, x := range d.Diagnoses {
		if (x.Code == Connection) != (x.Status == Fail) {
			t.Errorf("%s is %s (%s)", x.Code, x.Status, x.Reason)
		}
	}
}

// faulty answers as a cluster whose Kueue is not well.
func faulty(w http.ResponseWriter, r *http.Request) {
	answers := map[string]string{
		"/version":             `{"gitVersion":"v1.33.4"}`,
		"/apis/kueue.x-k8s.io": `{"kind":"APIGroup","versions":[{"version":"v1beta1"}],"preferredVersion":{"version":"v1beta1"}}`,
		"/apis/kubeflow.org":   `{"kind":"APIGroup","versions":[{"version":"v1"}],"preferredVersion":{"version":"v1"}}`,
		"/apis/kueue.x-k8s.io/v1beta1/clusterqueues":                                 `{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueueList","metadata":{},"items":[{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":"a"},"status":{"conditions":[{"type":"Active","status":"False"}]}},{"metadata":{"name":"b"},"spec":{"stopPolicy":"Hold"}},{"metadata":{"name":"c"}}]}`,
		"/api/v1/namespaces/kueue-system/configmaps/kueue-manager-config":            `{"metadata":{"name":"kueue-manager-config"},"data":{"controller_manager_config.yaml":"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {NoSuchGate: true}\n"}}`,
		"/apis/apps/v1/namespaces/kueue-system/deployments/kueue-controller-manager": `{"metadata":{"name":"kueue-controller-manager"},"spec":{"template":{"spec":{"containers":[{"name":"manager","image":"r/kueue:v0.19.6"}]}}},"status":{}}`,
		"/apis/apps/v1/deployments":                                                  `{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{},"items":[{"metadata":{"name":"training-operator","namespace":"kubeflow"},"status":{}}]}`,
		"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations":        `{"kind":"MutatingWebhookConfigurationList","apiVersion":"admissionregistration.k8s.io/v1","metadata":{},"items":[{"metadata":{"name":"kueue"},"webhooks":[{"failurePolicy":"Fail","clientConfig":{"caBundle":"eA==","service":{"namespace":"kueue-system","name":"hooks"}},"rules":[{"apiGroups":["kubeflow.org"]}]}]}]}`,
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations":      `{"kind":"ValidatingWebhookConfigurationList","apiVersion":"admissionregistration.k8s.io/v1","metadata":{},"items":[]}`,
		"/apis/discovery.k8s.io/v1/namespaces/kueue-system/endpointslices":           `{"kind":"EndpointSliceList","apiVersion":"discovery.k8s.io/v1","metadata":{},"items":[{"endpoints":[{"conditions":{"ready":false}}]}]}`,
		"/api/v1/nodes": `{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"n1","labels":{"sagemaker.amazonaws.com/node-health-status":"UnschedulablePendingReboot"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`,
		"/apis/authentication.k8s.io/v1/selfsubjectreviews":      `{"status":{"userInfo":{"username":"ada"}}}`,
		"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": `{"status":{"allowed":false}}`,
	}
	text, ok := answers[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Date", fixture.Noon.UTC().Format(http.TimeFormat))
	fmt.Fprint(w, text)
}

func TestFaultyCluster(t *testing.T) {
	c := kube.NewInProcess(http.HandlerFunc(faulty), "test", kube.Options{Now: func() time.Time { return fixture.Noon.Add(time.Minute) }})
	d := Document{Schema: Schema}
	Examine(t.Context(), Subject{Client: c, Live: true, Now: time.Now, Namespace: func(context.Context) (string, error) { return "t", nil }}, &d)
	d.Close()
	var got []string
	for _, x := range d.Diagnoses {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", x.Code, x.Status, x.Reason, strings.Join(x.Names[:min(3, len(x.Names))], ","))))
	}
	want := `Connection Ok
Latency Ok
Clock Warn Skewed
Credentials Ok  ada
Namespace Ok  t
Permissions Warn Incomplete cancel-job,cancel-job --reason,copy-file
Services Ok
Kueue Warn OldVersion v1beta1
KueueConfiguration Warn Differs
KueueRules Warn Differs HugeLimits,PodLevelRequests
KueueController Fail NotReady
Webhooks Fail NotReady kueue-system/hooks
Queues Warn NotActive a,b
QueuePositions Skipped NotServed
JobKinds Ok  PyTorchJob,MPIJob,TFJob
Operators Warn NotReady kubeflow/training-operator
Nodes Warn Unhealthy n1`
	if all := strings.Join(got, "\n"); all != want {
		t.Errorf("%s\nwant\n%s", all, want)
	}
	if d.User != "ada" || d.KueueVersion != "v0.19.6" || d.ClockSkewSeconds == nil || *d.ClockSkewSeconds != 59 || d.Status != Fail {
		t.Errorf("%+v", d)
	}
}

// TestCommandPermissions: a command is allowed with its required permissions alone.
func TestCommandPermissions(t *testing.T) {
	deleting := func(command string) bool {
		return slices.Contains([]string{"cancel-job", "cancel-job --reason", "delete-template", "mcp --allow start,cancel,patch"}, command) || strings.HasSuffix(command, "--on-interrupt cancel")
	}
	for _, c := range commandPermissionsOf(func(q question) bool { return q.resource != "nodes" && q.verb != "delete" }, false) {
		if want := !deleting(c.Command); c.Allowed != want || c.Allowed != (len(c.MissingPermissions) == 0) {
			t.Errorf("%+v", c)
		}
		if c.Command == "list-pods" && !slices.Equal(c.HiddenWithout, []string{"list nodes (all namespaces)"}) {
			t.Errorf("%v", c.HiddenWithout)
		}
	}
}

// TestJobKindsAreAlternatives: a role with one job kind allows the commands on jobs, a role with none does not.
func TestJobKindsAreAlternatives(t *testing.T) {
	for kind, want := range map[string]bool{"pytorchjobs": true, "": false} {
		granted := func(q question) bool {
			return q.resource == kind || !permissions.Permission{Group: q.group, Resource: q.resource}.OfJobKind()
		}
		for _, c := range commandPermissionsOf(granted, false) {
			onJobs := slices.Contains([]string{"list-jobs", "start-job", "get-log", "wait-job", "cancel-job"}, c.Command)
			if onJobs && (c.Allowed != want || (len(c.MissingPermissions) == 0) != want) {
				t.Errorf("%s: %+v", kind, c)
			}
			if onJobs && want && !slices.Contains(c.HiddenWithout, "list mpijobs.kubeflow.org") {
				t.Errorf("the other kinds are not named: %+v", c)
			}
		}
	}
}

// TestOwnQueueByName: for a member who reads the team's ClusterQueue by name, the list of LocalQueues is not required.
func TestOwnQueueByName(t *testing.T) {
	queues := func(readable bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch {
			case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
				var review struct {
					Spec struct{ ResourceAttributes struct{ Resource string } }
				}
				_ = json.NewDecoder(r.Body).Decode(&review)
				w.WriteHeader(http.StatusCreated)
				fmt.Fprintf(w, `{"kind":"SelfSubjectAccessReview","status":{"allowed":%t}}`, review.Spec.ResourceAttributes.Resource != "localqueues")
			case readable && strings.HasSuffix(r.URL.Path, "/clusterqueues/hyperpod-ns-a-clusterqueue"):
				fmt.Fprint(w, `{"kind":"ClusterQueue","metadata":{"name":"hyperpod-ns-a-clusterqueue"}}`)
			default:
				faulty(w, r)
			}
		}
	}
	for _, readable := range []bool{true, false} {
		d := Document{}
		c := kube.NewInProcess(queues(readable), "test", kube.Options{})
		Examine(t.Context(), Subject{Client: c, Live: true, Now: time.Now, Namespace: func(context.Context) (string, error) { return "hyperpod-ns-a", nil }}, &d)
		for _, p := range d.CommandPermissions {
			hidden := slices.Contains(p.HiddenWithout, "list localqueues.kueue.x-k8s.io")
			if (p.Command == "get-quota" || p.Command == "get-queue") && (p.Allowed != readable || readable && !hidden) {
				t.Errorf("readable %v: %+v", readable, p)
			}
		}
		if len(d.CommandPermissions) == 0 {
			t.Error("no permissions were examined")
		}
	}
}

// What an earlier command kept says nothing about a cluster that does not answer.
func TestNothingKnownWithoutConnection(t *testing.T) {
	got := withoutConnection([]Diagnosis{{Code: Connection, Status: Fail}, {Code: Kueue, Status: OK}, {Code: Nodes, Status: Fail}})
	if got[0].Status != Fail || got[1].Status != Skipped || got[1].Reason != NoConnection || got[2].Status != Skipped {
		t.Errorf("%+v", got)
	}
}

// TestServices: a team without permissions for services is fine, one with some of them is not.
func TestServices(t *testing.T) {
	for _, c := range []struct {
		granted func(question) bool
		want    Status
		missing int
	}{
		{func(question) bool { return true }, OK, 0},
		{func(question) bool { return false }, OK, 8},
		{func(q question) bool { return q.verb != "patch" }, Warn, 2},
	} {
		if d := services(c.granted); d.Status != c.want || d.Count != c.missing || (c.want == Warn) != slices.Equal(d.Names, []string{"patch deployments.apps", "patch services"}) {
			t.Errorf("%+v, want %s", d, c.want)
		}
	}
}
