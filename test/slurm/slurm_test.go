package slurm

import (
	"fmt"
	"strings"
	"testing"
)

// TestCluster holds the judge itself: it runs a job on two nodes.
func TestCluster(t *testing.T) {
	t.Parallel()
	if why := Missing(); why != "" {
		t.Skip(why)
	}
	ctx := t.Context()
	c, err := Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}()
	cmd := c.Command(ctx, "srun", "--nodes=2", "--ntasks-per-node=1", "--gpus-per-node=8", "sh", "-c", "echo $SLURM_PROCID of $SLURM_NTASKS")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1 of 2") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAccounting: the database of a cluster with accounting has a job after its end.
func TestAccounting(t *testing.T) {
	t.Parallel()
	if why := MissingAccounting(); why != "" {
		t.Skip(why)
	}
	ctx := t.Context()
	c, err := StartWithAccounting(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}()
	if out, err := c.Command(ctx, "srun", "--job-name=counted", "--nodes=1", "true").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := until(ctx, func() error {
		out, err := c.Command(ctx, "sacct", "-X", "-n", "-P", "--format=JobName,State").CombinedOutput()
		if err != nil || string(out) != "counted|COMPLETED\n" {
			return fmt.Errorf("%w %s", err, out)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
