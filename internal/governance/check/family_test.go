package check_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// family is the workload of a job in a queue with concurrent admission, and its variant for a flavor.
func family(team, name string, gpus, priority int, since time.Duration, admitted bool) []any {
	text := string(fixture.Work(team, name, gpus, priority, since, admitted).(json.RawMessage))
	parent := strings.Replace(text, `"labels":{`, `"labels":{"kueue.x-k8s.io/concurrent-admission-parent":"true",`, 1)
	var variant map[string]any
	if err := json.Unmarshal([]byte(text), &variant); err != nil {
		panic(err)
	}
	m := variant["metadata"].(map[string]any)
	m["ownerReferences"] = []any{map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": m["name"], "uid": m["uid"], "controller": true}}
	m["name"], m["uid"] = fmt.Sprint(m["name"], "-a100"), fmt.Sprint(m["uid"], "-a100")
	m["annotations"] = map[string]any{"kueue.x-k8s.io/workload-allowed-resource-flavors": "a100"}
	data, err := json.Marshal(variant)
	if err != nil {
		panic(err)
	}
	return []any{json.RawMessage(parent), json.RawMessage(data)}
}

// families is a cluster with a team whose queue has concurrent admission, which Kueue has on or off.
func families(on bool, gpus int, spec string) *fixture.Server {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fmt.Sprintf("%sfeatureGates: {ConcurrentAdmission: %t}\n", fixture.FairSharing, on)),
		fixture.Node("n1", "a100", 64, ""), fixture.Class("high", 100))
	s.Add(fixture.Team("t", "", gpus, "", `"concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors"}}`+spec)...)
	return s
}

// TestFamiliesEnd: what the variants of a job hold is free once it ends, and not before: the jobs ahead take their part of it.
func TestFamiliesEnd(t *testing.T) {
	for name, c := range map[string]struct {
		quota, other, ahead, asks int // GPUs
	}{
		"nobody is ahead": {9, 1, 0, 8},
		"one is ahead":    {12, 4, 4, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := families(true, c.quota, "")
			s.Add(family("t", "large", 8, 0, time.Hour, true)...)
			s.Add(family("t", "other", c.other, 0, time.Hour, true)...)
			if c.ahead > 0 {
				s.Add(family("t", "ahead", c.ahead, 50, time.Hour, false)...)
			}
			k := checker(t, s)
			for range 2 {
				v := ask(t, k, check.Request{Object: object(t, fixture.Job("j", 1, c.asks, "")), Namespace: "t", Remedies: true})
				ends := ""
				for _, m := range v.Remedies {
					for _, j := range m.Jobs {
						ends += j.Name
					}
				}
				if ends != "large" {
					t.Errorf("it runs once %q ends", ends)
				}
				if v.Verdict != check.Waits || v.Quota.Status != check.StatusFailed || v.ETA == nil || v.ETA.Known() {
					t.Errorf("%s: %s, %+v", v.Verdict, v.Summary, v.ETA)
				}
			}
		})
	}
}

// TestFamilyPreemptible: a holder can be preempted if its variants can.
func TestFamilyPreemptible(t *testing.T) {
	s := families(true, 9, `,"preemption":{"withinClusterQueue":"LowerPriority"}`)
	s.Add(family("t", "low", 8, 0, time.Hour, true)...)
	s.Add(family("t", "top", 1, 200, time.Hour, true)...)
	v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 9, "", "kueue.x-k8s.io/priority-class", "high")), Namespace: "t", Remedies: true})
	got := map[string]bool{}
	for _, h := range v.Holders {
		got[h.Name] = h.Preemptible
	}
	if len(got) != 2 || !got["low"] || got["top"] {
		t.Errorf("%s: %v", v.Summary, got)
	}
}

// TestFamiliesTogether: a job that is preempted leaves its quota, and the next verdict counts it no more.
func TestFamiliesTogether(t *testing.T) {
	for _, on := range []bool{true, false} {
		s := families(on, 8, `,"preemption":{"withinClusterQueue":"LowerPriority"}`)
		s.Add(family("t", "low", 8, 0, time.Hour, true)...)
		ask := func(name string, labels ...string) check.Request {
			return check.Request{Object: object(t, fixture.Job(name, 1, 8, "", labels...)), Namespace: "t"}
		}
		list, err := checker(t, s).Together(t.Context(), []check.Request{ask("high", "kueue.x-k8s.io/priority-class", "high"), ask("next")}, nil)
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		if q := list[0].Quota; list[0].Verdict != check.Admitted || on && (len(q.Preempts) != 1 || q.Preempts[0].Name != "low") {
			t.Errorf("on %t: %s: %+v", on, list[0].Verdict, q.Preempts)
		}
		if r := list[1].Quota.Resources; list[1].Verdict != check.Waits || len(r) != 1 || r[0].Used != 8 {
			t.Errorf("on %t: %s: %+v", on, list[1].Verdict, r)
		}
	}
}

// TestFamiliesHidden: what jobs hold that could not be read is not free, also where a queue counts variants only.
func TestFamiliesHidden(t *testing.T) {
	s := families(true, 8, "")
	team := fixture.Team("u", "", 8, "", `"concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors"}}`)
	queue := strings.TrimSuffix(string(team[2].(json.RawMessage)), "}") + `,"status":{"flavorsReservation":[{"name":"a100","resources":[{"name":"nvidia.com/gpu","total":"7"}]}]}}`
	s.Add(team[0], team[1], json.RawMessage(queue))
	s.Add(family("u", "own", 4, 0, time.Hour, true)...)
	c := member(t, s, "u", "configmaps", "clusterqueues", "cohorts")
	for gpus, want := range map[int]admission.Outcome{1: admission.Admitted, 2: admission.Waits} {
		w := c.In.Workloads[0].DeepCopy()
		w.Name, w.UID, w.Status = fmt.Sprint("asks-", gpus), types.UID(fmt.Sprint("asks-", gpus)), kueue.WorkloadStatus{}
		w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"] = *resource.NewQuantity(int64(gpus), resource.DecimalSI)
		if d, err := c.Engine.Probe(t.Context(), w); err != nil || d.Outcome != want {
			t.Errorf("%d: %s %q, %v", gpus, d.Outcome, d.Message, err)
		}
	}
}
