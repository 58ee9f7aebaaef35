package patch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// api answers as a cluster would that forbids some methods, and keeps what was
// sent.
func api(t *testing.T, uid string, forbidden ...string) (*kube.Client, *[]string) {
	t.Helper()
	var sent []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		path := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		line := r.Method + " " + path + " " + r.URL.RawQuery + " " + string(body)
		sent = append(sent, strings.Join(strings.Fields(line), " "))
		w.Header().Set("Content-Type", "application/json")
		for _, f := range forbidden {
			if f == r.Method {
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprintf(w, `{"kind":"Status","reason":"Forbidden","code":403,"message":"User \"a\" cannot %s"}`, strings.ToLower(r.Method))
				return
			}
		}
		fmt.Fprintf(w, `{"metadata":{"name":"x","uid":%q,"resourceVersion":"7"},"spec":{"other":1}}`, uid)
	}))
	t.Cleanup(s.Close)
	c, err := kube.New(&rest.Config{Host: s.URL}, kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c, &sent
}

func target(change func(*Target)) Target {
	t := Target{Job: state.Job{Kind: kinds.PyTorchJob, Meta: state.Meta{Name: "x", Namespace: "n", UID: "u", Labels: map[string]string{}}}, WorkloadResource: kinds.Workload}
	change(&t)
	return t
}

func queued(t *Target) {
	t.Job.Labels[kinds.QueueLabel] = "q"
	t.Workload = &state.Workload{Meta: state.Meta{Name: "w", Namespace: "n"}, Active: true}
}

func workspace(pods int64) func(t *Target) {
	return func(t *Target) {
		queued(t)
		t.Job.Kind, t.Job.Roles = kinds.Workspace, []state.RoleCount{{Name: "pod", Replicas: pods}}
	}
}

func TestSuspend(t *testing.T) {
	for _, tt := range []struct {
		name      string
		target    Target
		on, dry   bool
		forbidden []string
		uid       string
		want      string // requests, or the error
		unchanged bool
		exit      errs.Exit
	}{
		{name: "by its workload", target: target(queued), on: true, want: `PATCH w {"spec":{"active":false}}`},
		{name: "dry", target: target(queued), on: true, dry: true, want: `PATCH w dryRun=All {"spec":{"active":false}}`},
		{name: "let go", target: target(func(t *Target) { queued(t); t.Workload.Active = false }), want: `PATCH w {"spec":{"active":true}}`},
		{name: "held already", target: target(func(t *Target) { queued(t); t.Workload.Active = false }), on: true, unchanged: true},
		{name: "not held", target: target(queued), unchanged: true},
		{name: "no Kueue", target: target(func(t *Target) { t.WorkloadResource = kinds.Resource{} }), on: true, want: `PATCH x {"spec":{"runPolicy":{"suspend":true}}}`},
		{name: "no queue", target: target(func(*Target) {}), on: true, want: `PATCH x {"spec":{"runPolicy":{"suspend":true}}}`},
		{name: "who may only update", target: target(func(*Target) {}), on: true, forbidden: []string{"PATCH"},
			want: `PATCH x {"spec":{"runPolicy":{"suspend":true}}}|GET x|PUT x {"metadata":{"name":"x","resourceVersion":"7","uid":"u"},"spec":{"other":1,"runPolicy":{"suspend":true}}}`},
		{name: "who may neither", target: target(func(*Target) {}), on: true, forbidden: []string{"PATCH", "PUT"}, want: "permission", exit: errs.Denied},
		{name: "replaced meanwhile", target: target(func(*Target) {}), on: true, forbidden: []string{"PATCH"}, uid: "other", want: "replaced by another", exit: errs.Failure},
		{name: "no workload yet", target: target(func(t *Target) { t.Job.Labels[kinds.QueueLabel] = "q" }), on: true, want: "has no Workload yet", exit: errs.Failure},
		{name: "a kind with a field that stops it", target: target(workspace(1)), on: true, want: `PATCH x {"spec":{"desiredStatus":"Stopped"}}`},
		{name: "which starts it again", target: target(workspace(0)), want: `PATCH x {"spec":{"desiredStatus":"Running"}}`},
		{name: "which is stopped already", target: target(workspace(0)), on: true, unchanged: true},
		{name: "over", target: target(func(t *Target) {
			queued(t)
			t.Job.Conditions = []state.Condition{{Type: "Failed", Status: "True"}}
		}), on: true, want: "job x has ended: it failed", exit: errs.Failure},
	} {
		t.Run(tt.name, func(t *testing.T) {
			uid := tt.uid
			if uid == "" {
				uid = "u"
			}
			c, sent := api(t, uid, tt.forbidden...)
			plan, planned := PlanSuspend(tt.target, tt.on)
			if len(*sent) > 0 || tt.exit == errs.Failure && tt.uid == "" && errs.ExitOf(Worded(planned)) != tt.exit || planned == nil && plan.Changed == tt.unchanged {
				t.Errorf("planned %+v, %v; sent %q", plan, planned, *sent)
			}
			r, err := Suspend(context.Background(), c, tt.target, tt.on, tt.dry)
			if err = Worded(err); errs.ExitOf(err) != tt.exit {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v", err)
				}
				return
			}
			if got := strings.Join(*sent, "|"); got != tt.want || r.Changed == tt.unchanged {
				t.Errorf("sent %s, %+v", got, r)
			}
		})
	}
}

func TestPriority(t *testing.T) {
	c, sent := api(t, "u")
	held := target(func(t *Target) { queued(t); t.Job.Labels[kinds.PriorityLabel] = "low" })
	if r, err := Priority(context.Background(), c, held, "high", false); err != nil || !r.Changed || (*sent)[0] != `PATCH x {"metadata":{"labels":{"kueue.x-k8s.io/priority-class":"high"}}}` {
		t.Errorf("%v, %+v, %q", err, r, *sent)
	}
	if r, err := Priority(context.Background(), c, held, "low", false); err != nil || r.Changed || len(*sent) != 1 {
		t.Errorf("%v, %+v, %q", err, r, *sent)
	}
}
