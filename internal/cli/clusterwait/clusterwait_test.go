package clusterwait

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// attempts is how often the client sends a request that is throttled.
const attempts = 4

// open returns a client for a fake, and a factory with its output.
func open(t *testing.T) (*fake.Server, *aws.Client, *factory.Factory, output.Buffers) {
	t.Helper()
	s := fake.ForTest(t, fake.Options{})
	client, err := aws.Open(t.Context(), aws.Options{Backoff: func(int) time.Duration { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	io, b := output.Test()
	return s, client, &factory.Factory{IO: io, Env: os.Getenv, Now: time.Now}, b
}

func create(t *testing.T, client *aws.Client) {
	t.Helper()
	group := map[string]any{"InstanceGroupName": "gpu", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 3, "ExecutionRole": "arn:aws:iam::123456789012:role/hyperpod"}
	if _, err := client.CreateCluster(t.Context(), "lab", map[string]any{"ClusterName": "lab", "InstanceGroups": []map[string]any{group}}); err != nil {
		t.Fatal(err)
	}
}

// ticks never block.
func ticks() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

// TestInServiceReportsProgress: each state is reported once, up to the last instance.
func TestInServiceReportsProgress(t *testing.T) {
	_, client, f, b := open(t)
	create(t, client)
	if err := (Flags{Tick: ticks()}).InService(t.Context(), f, client, "lab"); err != nil {
		t.Fatal(err)
	}
	want := "Creating: gpu 0 of 3 Creating\nCreating: gpu 1 of 3 Creating\nInService: gpu 3 of 3\n"
	if b.Err.String() != want {
		t.Errorf("%s\nwant %s", b.Err, want)
	}
}

// TestInServiceEndsWithAFailure: a cluster that fails ends the wait with its reason.
func TestInServiceEndsWithAFailure(t *testing.T) {
	s, client, f, _ := open(t)
	s.NoCapacity()
	create(t, client)
	err := (Flags{Tick: ticks()}).InService(t.Context(), f, client, "lab")
	if err == nil || errs.ExitOf(err) != errs.Failure || !strings.Contains(err.Error(), "The fake has no capacity") {
		t.Error(err)
	}
}

// TestDeleted: the wait ends when the cluster is gone, at once or later.
func TestDeleted(t *testing.T) {
	s, client, f, _ := open(t)
	s.AddCluster(fake.Spec{Name: "old"})
	if err := client.DeleteCluster(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := (Flags{Tick: ticks()}).Deleted(t.Context(), f, client, "old"); err != nil {
			t.Error(err)
		}
	}
}

// TestTimeout: --timeout 0 looks once.
func TestTimeout(t *testing.T) {
	_, client, f, _ := open(t)
	create(t, client)
	none := time.Duration(0)
	err := (Flags{Wait: true, Timeout: &none, Tick: ticks()}).InService(t.Context(), f, client, "lab")
	if errs.ExitOf(err) != errs.Timeout {
		t.Error(err)
	}
}

// TestInServiceBeforeTheClusterIsFound: SageMaker may not find a cluster that it has just created.
func TestInServiceBeforeTheClusterIsFound(t *testing.T) {
	missing := fake.Fault{Operation: "DescribeCluster", Status: 400, Code: "ResourceNotFound", Message: "Cluster with name lab not found"}
	s, client, f, _ := open(t)
	create(t, client)
	missing.Times = unseen
	s.Fail(missing)
	if err := (Flags{Tick: ticks()}).InService(t.Context(), f, client, "lab"); err != nil {
		t.Error(err)
	}
	missing.Times = unseen + 1
	s.Fail(missing)
	err := (Flags{Tick: ticks()}).InService(t.Context(), f, client, "lab")
	if errs.ExitOf(err) != errs.NotFound || strings.Contains(errs.Text(err, false), "did you mean") || !strings.Contains(errs.Text(err, false), "try again") {
		t.Errorf("%v", errs.Text(err, false))
	}
}

// TestInServiceOfADeletedCluster: a cluster that somebody deletes meanwhile ends the wait.
func TestInServiceOfADeletedCluster(t *testing.T) {
	s, client, f, _ := open(t)
	s.AddCluster(fake.Spec{Name: "old", Status: "Deleting", Then: []string{"Deleting", "Deleting"}})
	err := (Flags{Tick: ticks()}).InService(t.Context(), f, client, "old")
	if err == nil || errs.ExitOf(err) != errs.Failure || !strings.Contains(err.Error(), "cluster old is not in service: Deleting") {
		t.Error(err)
	}
}

// TestDeletedEndsWhenTheDeletionIsUndone: a cluster that leaves the status Deleting stays.
func TestDeletedEndsWhenTheDeletionIsUndone(t *testing.T) {
	s, client, f, b := open(t)
	s.AddCluster(fake.Spec{Name: "old", Then: []string{"Deleting", "Deleting", "SystemUpdating"}})
	err := (Flags{Tick: ticks()}).Deleted(t.Context(), f, client, "old")
	if err == nil || errs.ExitOf(err) != errs.Failure || !strings.Contains(err.Error(), "cannot delete cluster old: its status changed from Deleting to SystemUpdating") {
		t.Errorf("%v\n%s", err, b.Err)
	}
}

// TestDeletedNamesTheDeletionInItsTimeout: the error about a deletion does not call the cluster unready.
func TestDeletedNamesTheDeletionInItsTimeout(t *testing.T) {
	s, client, f, _ := open(t)
	s.AddCluster(fake.Spec{Name: "old", Status: "Deleting", Then: []string{""}})
	none := time.Duration(0)
	err := (Flags{Wait: true, Timeout: &none, Tick: ticks()}).Deleted(t.Context(), f, client, "old")
	if errs.ExitOf(err) != errs.Timeout || !strings.Contains(err.Error(), "cluster old is not deleted yet") {
		t.Error(err)
	}
}

// TestAWaitSurvivesThrottling: descriptions that fail for a while do not end a wait, those that never succeed do.
func TestAWaitSurvivesThrottling(t *testing.T) {
	s, client, f, b := open(t)
	create(t, client)
	s.Throttle("DescribeCluster", 2*attempts)
	if err := (Flags{Tick: ticks()}).InService(t.Context(), f, client, "lab"); err != nil {
		t.Error(err)
	}
	if want := "cannot describe cluster lab: AWS throttles requests; trying again\n"; strings.Count(b.Err.String(), want) != 1 {
		t.Errorf("%s", b.Err)
	}
	s.Throttle("DescribeCluster", 0)
	if err := (Flags{Tick: ticks()}).InService(t.Context(), f, client, "lab"); err == nil || !strings.Contains(err.Error(), "AWS throttles requests") {
		t.Error(err)
	}
}
