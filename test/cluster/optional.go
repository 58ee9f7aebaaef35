package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// optional is the operator of an optional component.
func (b *Bed) optional(c Component) (operator, error) {
	switch c {
	case JobSet:
		return operator{
			name: "jobset", component: JobSet, binary: b.binaries.JobSet,
			namespace: "jobset-system", serviceAccount: "jobset-controller-manager",
			args:    []string{"--leader-elect=false"},
			health:  "http://127.0.0.1:8081/readyz",
			service: "jobset-webhook-service", secret: "jobset-webhook-server-cert", authority: "jobset-ca",
			exposed: []endpoint{{"jobset-webhook-service", "", 9443}},
		}, nil
	case LWS:
		return operator{
			name: "lws", component: LWS, binary: b.binaries.LWS,
			namespace: "lws-system", serviceAccount: "lws-controller-manager",
			args:    []string{"--leader-elect=false"},
			health:  "http://127.0.0.1:8081/readyz",
			service: "lws-webhook-service", secret: "lws-webhook-server-cert", authority: "lws-ca",
			exposed: []endpoint{{"lws-webhook-service", "", 9443}},
		}, nil
	case KubeRay:
		return operator{
			name: "kuberay", component: KubeRay, binary: b.binaries.KubeRay,
			namespace: "default", serviceAccount: "kuberay-operator",
			args:   []string{"--enable-leader-election=false"},
			health: "http://127.0.0.1:8082/readyz",
			// It asks the head pod of each Ray cluster by name, over plain HTTP; as its proxy we
			// answer for all of them. Go never asks a proxy for what is on loopback.
			env:   []string{"HTTP_PROXY=http://" + rayDashboard},
			local: map[string]http.Handler{rayDashboard: fakeRay(b.options.RayJobStatus, time.Now)},
		}, nil
	}
	return operator{}, fmt.Errorf("%q is not an optional component; these are: %v", c, Optional())
}

// rayDashboard is an address on the operator's own loopback.
const rayDashboard = "127.0.0.1:8265"

// fakeRay answers as the job API of Ray's dashboard does, as far as the operator asks:
// https://docs.ray.io/en/latest/cluster/running-applications/job-submission/rest.html
func fakeRay(status func(id string) string, now func() time.Time) http.Handler {
	var seen sync.Map // submission id → when it was first asked for
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // the operator asks again
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/jobs/{id}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		started, _ := seen.LoadOrStore(id, now().UnixMilli())
		state := "RUNNING"
		if status != nil {
			state = status(id)
		}
		info := Object{"type": "SUBMISSION", "submission_id": id, "job_id": id, "status": state,
			"message": "Job is " + strings.ToLower(state) + ".", "start_time": started}
		if slices.Contains([]string{"SUCCEEDED", "FAILED", "STOPPED"}, state) {
			info["end_time"] = now().UnixMilli()
		}
		answer(w, info)
	})
	mux.HandleFunc("POST /api/jobs/{id}/stop", func(w http.ResponseWriter, _ *http.Request) { answer(w, Object{"stopped": true}) })
	return mux
}

// without drops from objects those that others hold too.
func without(objects, others []Object) []Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o Object) bool {
		return slices.ContainsFunc(others, func(p Object) bool {
			return field(o, "kind") == field(p, "kind") && field(o, "metadata", "name") == field(p, "metadata", "name") &&
				field(o, "metadata", "namespace") == field(p, "metadata", "namespace")
		})
	})
}
