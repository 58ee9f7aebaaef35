package explain_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/explain"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/present/explanation"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestWorkers: a job that has its quota here waits for the admission check of MultiKueue. Its worker clusters say why.
func TestWorkers(t *testing.T) {
	const (
		reserved = `"admission":{"clusterQueue":"t","podSetAssignments":[{"count":1,"flavors":{"nvidia.com/gpu":"a100"},"name":"worker","resourceUsage":{"nvidia.com/gpu":"4"}}]},
"conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"","lastTransitionTime":"2026-01-02T11:30:00Z"}],"nominatedClusterNames":["east"]`
		checks = `,"admissionChecks":[{"name":"remote","state":"Pending","message":"","lastTransitionTime":"2026-01-02T11:30:00Z"}]`
	)
	job := pytorch("llama", queued, 4, true)
	workload := with(fixture.Work("t", "llama", 4, 10, time.Hour, false), reserved+checks)
	manager := fixture.New(fixture.Flavor("a100"), fixture.Rules(""), workload,
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":"remote"},"spec":{"controllerName":"kueue.x-k8s.io/multikueue"},"status":{"conditions":[{"type":"Active","status":"True","reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`))
	manager.Add(fixture.Team("t", "", 8, "", `"admissionChecksStrategy":{"admissionChecks":[{"name":"remote"}]}`)...)

	// The worker has the copy already, and another job ahead of it.
	east := fixture.New(fixture.Flavor("a100"), fixture.Rules(""), fixture.Node("n1", "a100", 8, ""),
		fixture.Work("t", "other", 8, 10, 2*time.Hour, true), fixture.Work("t", "llama", 4, 10, time.Hour, false))
	east.Add(fixture.Team("t", "", 8, "", "")...)
	in, err := inputs.Load(context.Background(), east.Client(), inputs.Options{}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	q := question(t, job, text(workload))
	q.Workers = func(_ context.Context, of *kueue.AdmissionCheck, sent []string) ([]check.Remote, error) {
		if of.Name != "remote" || strings.Join(sent, " ") != "east" {
			t.Errorf("asked for the workers of %s, sent to %v", of.Name, sent)
		}
		return []check.Remote{{Name: "east", In: in}, {Name: "west", Unread: "no permission"}}, nil
	}
	e := explained(t, manager, q)
	page := explanation.Text(e, 0, false, time.Duration.String)
	for _, want := range []string{"waits for admission check remote (Pending)", "west: UNKNOWN  no permission", "east: WAITS  would not start now: 4 more nvidia.com/gpu needed"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	q.Workers = func(context.Context, *kueue.AdmissionCheck, []string) ([]check.Remote, error) {
		return nil, &check.WorkersError{Err: errors.New("no permission to get the MultiKueueConfig")}
	}
	if e := explained(t, manager, q); len(e.Workers) > 0 || len(e.Notes) != 1 || e.Notes[0].Code != explain.WorkersUnread || e.Notes[0].Message != "no permission to get the MultiKueueConfig" {
		t.Errorf("%+v %+v", e.Workers, e.Notes)
	}
}
