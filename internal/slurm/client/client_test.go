package client

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	judge "github.com/hyperpod-cli/hyperpod/test/slurm"
)

// started starts a Slurm cluster for a test, and skips the test where Slurm is missing.
func started(t *testing.T, missing func() string, start func(context.Context) (*judge.Cluster, error)) *judge.Cluster {
	t.Helper()
	if why := missing(); why != "" {
		t.Skip(why)
	}
	cluster, err := start(context.WithoutCancel(t.Context())) // Stop ends the processes, not the end of the context
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// TestAgainstSlurm compares the parsers, the states and the scripts with a real Slurm.
func TestAgainstSlurm(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cluster := started(t, judge.Missing, judge.Start)
	c := &Client{Environ: append(os.Environ(), "SLURM_CONF="+cluster.Config(), "SQUEUE_STATES=RUNNING", "SLURM_TIME_FORMAT=relative")}

	t.Run("every state that squeue accepts is known", func(t *testing.T) {
		out, _ := cluster.Command(ctx, "squeue", "--states=NONE_OF_THEM").CombinedOutput()
		m := regexp.MustCompile(`Valid job states include: (\S+)`).FindStringSubmatch(string(out))
		if m == nil {
			t.Fatalf("squeue names no states: %s", out)
		}
		for _, name := range strings.Split(m[1], ",") {
			if _, known := slurm.StateOf(name, ""); !known {
				t.Errorf("%s is unknown", name)
			}
			if out, err := cluster.Command(ctx, "squeue", "--states="+name).CombinedOutput(); err != nil {
				t.Errorf("squeue refuses %s: %s", name, out)
			}
		}
	})

	nodes, err := c.Nodes(ctx)
	if err != nil || len(nodes) != len(judge.Nodes) || nodes[0].Devices["nvidia.com/gpu"] != 8 || len(nodes[3].Partitions) != 2 {
		t.Fatalf("%+v %v", nodes, err)
	}

	dir := t.TempDir()
	script := func(name, program string, n int) string {
		s, err := slurm.ScriptOf(values.Values{Name: name, Command: program, NodeCount: &n, AutoResume: true}, slurm.Site{Features: nodes[0].Features, Devices: 8})
		if err != nil {
			t.Fatal(err)
		}
		s.Output = dir + "/%x-%j.out"
		return s.Text()
	}
	t.Run("a script runs to its end without HyperPod's plugin", func(t *testing.T) {
		id, err := c.Submit(ctx, script("ends", "hostname", 2))
		if err != nil {
			t.Fatal(err)
		}
		j := until(t, c, id, func(j slurm.Job) bool { return !j.Active() })
		if _, s := j.Values(); s.State != jobs.Succeeded || j.Devices["nvidia.com/gpu"] != 16 {
			t.Errorf("%+v", j)
		}
		d, err := c.Details(ctx, id)
		text, _ := os.ReadFile(j.OutputFile(d.StdOut))
		if err != nil || strings.Count(string(text), "\n") != 2 {
			t.Errorf("%q %v", text, err)
		}
	})
	t.Run("a failed script has its exit code", func(t *testing.T) {
		id, err := c.Submit(ctx, "#!/bin/sh\n#SBATCH --output=/dev/null\nexit 3\n")
		if err != nil {
			t.Fatal(err)
		}
		if j := until(t, c, id, func(j slurm.Job) bool { return !j.Active() }); j.State != "FAILED" || j.ExitCode != 3 {
			t.Errorf("%+v", j)
		}
	})
	t.Run("a name cannot forge a job", func(t *testing.T) {
		name := "a<>.\n99|RUNNING\x1b[31m"
		id, err := c.Submit(ctx, "#!/bin/sh\n", "--hold", "--job-name="+name)
		if err != nil {
			t.Fatal(err)
		}
		list, err := c.Jobs(ctx, id)
		if err != nil || len(list) != 1 || list[0].Name != name {
			t.Errorf("%+v %v", list, err)
		}
		if _, s := list[0].Values(); s.State != jobs.Suspended {
			t.Errorf("a held job is %s", s.State)
		}
	})
	t.Run("an estimate has a time and nodes", func(t *testing.T) {
		e, err := c.Test(ctx, script("later", "hostname", 2))
		if err != nil || e.Partition != "dev" || time.Until(e.Start) > time.Hour {
			t.Errorf("%+v %v", e, err)
		}
	})
	t.Run("refusals have codes", func(t *testing.T) {
		refusals := map[Code]func() error{
			NoPartition: func() error { _, err := c.Submit(ctx, "#!/bin/sh\n", "--partition=nope"); return err },
			NeverFits:   func() error { _, err := c.Test(ctx, script("large", "hostname", 5)); return err },
			UnknownJob:  func() error { _, err := c.Jobs(ctx, "4000000"); return err },
			UnknownNode: func() error { return c.Recover(ctx, "gpu-9", slurm.Reboot) },
		}
		for code, f := range refusals {
			if err := f(); !Is(err, code) {
				t.Errorf("%s: %v", code, err)
			}
		}
		if _, ok, err := c.History(ctx, time.Now()); ok || err != nil {
			t.Errorf("a cluster without accounting has a history: %v %v", ok, err)
		}
	})
	t.Run("HyperPod's reasons arrive as they are documented", func(t *testing.T) {
		if err := c.Recover(ctx, "gpu-3", slurm.Replace); err != nil {
			t.Fatal(err)
		}
		nodes, err := c.Nodes(ctx)
		if err != nil || nodes[2].Pending() != slurm.Replace || nodes[2].State != "fail" {
			t.Errorf("%+v %v", nodes, err)
		}
	})
	t.Run("a controller that is down", func(t *testing.T) {
		if err := cluster.StopController(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Nodes(ctx); !Is(err, Down) {
			t.Errorf("%v", err)
		}
	})
}

// TestAgainstAccounting compares the reader of finished jobs with a real sacct.
func TestAgainstAccounting(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cluster := started(t, judge.MissingAccounting, judge.StartWithAccounting)
	c := &Client{Environ: append(os.Environ(), "SLURM_CONF="+cluster.Config(), "SACCT_FORMAT=JobID", "SLURM_TIME_FORMAT=relative")}

	for _, name := range []string{"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PENDING", "PREEMPTED", "RUNNING", "REQUEUED",
		"RESIZING", "REVOKED", "SUSPENDED", "TIMEOUT"} { // sacct(1), JOB STATE CODES
		if _, known := slurm.StateOf(name, ""); !known {
			t.Errorf("%s is unknown", name)
		}
		if out, err := cluster.Command(ctx, "sacct", "--state="+name, "--endtime=now").CombinedOutput(); err != nil {
			t.Errorf("sacct refuses %s: %s", name, out)
		}
	}

	comment := slurm.Sweep{Name: "tune", Sum: "1", Point: sweep.Point{{Name: "lr", Value: "adam w"}}}.Comment()
	// The jobs end when the database knows them: it has no name of a job whose end arrives before its start.
	started, gate := map[string]string{}, filepath.Join(t.TempDir(), "gate")
	for name, script := range map[string]string{"ends": "exit 0", "a\nb|\x1b[31m<>": "exit 3", "killed": "kill -9 $$", "stays": "sleep 300"} {
		id, err := c.Submit(ctx, "#!/bin/sh\n#SBATCH --output=/dev/null\n#SBATCH --gpus-per-node=2\n#SBATCH --nodes=1\nwhile ! test -e "+gate+"; do sleep 0.1; done\n"+script+"\n", "--job-name="+name, "--comment="+comment)
		if err != nil {
			t.Fatal(err)
		}
		started[id] = name
	}
	for id, name := range started {
		recorded(t, c, id, func(j slurm.Job) bool { return j.Name == name })
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for id, name := range started {
		if name == "stays" {
			until(t, c, id, func(j slurm.Job) bool { return j.State == "RUNNING" })
			if err := c.Cancel(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
	}
	for id, name := range started {
		queue := until(t, c, id, func(j slurm.Job) bool { return !j.Active() })
		past := recorded(t, c, id, func(j slurm.Job) bool { return !j.Active() })
		// What the controller and the database say about a job is the same.
		_, want := queue.Values()
		job, got := past.Values()
		if past.Name != name || got.State != want.State || past.ExitCode != queue.ExitCode || past.Signal != queue.Signal && queue.State != "CANCELLED" || past.User != queue.User || past.Partition != queue.Partition ||
			past.Nodes != queue.Nodes || past.Devices["nvidia.com/gpu"] != 2 || !past.Submit.Equal(queue.Submit) || !past.End.Equal(queue.End) || past.WorkDir != queue.WorkDir {
			t.Errorf("sacct has %+v, squeue %+v", past, queue)
		}
		if job.Labels["cli.hyperpod/sweep"] != "tune" {
			t.Errorf("the comment of %s is %q", name, past.Comment)
		}
	}
	list, ok, err := c.History(ctx, time.Now().Add(-time.Hour))
	if err != nil || !ok || len(list) != len(started) {
		t.Errorf("%d jobs, %v, %v", len(list), ok, err)
	}
}

// recorded reads a job from the database until it is as wanted there.
func recorded(t *testing.T, c *Client, id string, done func(slurm.Job) bool) slurm.Job {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		list, ok, err := c.History(ctx, time.Time{}, id)
		if err == nil && ok && len(list) == 1 && done(list[0]) {
			return list[0]
		}
		select {
		case <-ctx.Done():
			t.Fatalf("job %s: %+v %v", id, list, err)
		case <-tick.C:
		}
	}
}

// until reads a job until it is as wanted.
func until(t *testing.T, c *Client, id string, done func(slurm.Job) bool) slurm.Job {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		list, err := c.Jobs(ctx, id)
		if err == nil && len(list) == 1 && done(list[0]) {
			return list[0]
		}
		select {
		case <-ctx.Done():
			t.Fatalf("job %s: %+v %v", id, list, err)
		case <-tick.C:
		}
	}
}

func TestFailures(t *testing.T) {
	if err := failure("squeue", "", time.Second, context.DeadlineExceeded); !Is(err, TimedOut) {
		t.Error(err)
	}
	if err := failure("squeue", "", time.Second, context.Canceled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := message("sbatch: error: a: b\n\nslurm_load_jobs error: c\n"); got != "a: b\nslurm_load_jobs error: c" {
		t.Errorf("%q", got)
	}
}

func TestEnvironment(t *testing.T) {
	c := Client{Environ: []string{"SQUEUE_FORMAT=x", "SLURM_CONF=/a", "SLURM_TIME_FORMAT=relative", "SBATCH_ACCOUNT=a"}}
	if got := strings.Join(c.environment(), " "); got != "SLURM_CONF=/a SBATCH_ACCOUNT=a SLURM_TIME_FORMAT=%s LC_ALL=C.UTF-8" {
		t.Error(got)
	}
}

func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if got := Missing(); got != Commands[0] {
		t.Errorf("missing: %q", got)
	}
	if _, err := (&Client{}).Nodes(t.Context()); !Is(err, NoCommand) {
		t.Error(err)
	}
}

// TestLongOutput: what a command prints is kept up to a limit.
func TestLongOutput(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "squeue")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nhead -c 1000000 /dev/zero >&2\necho kept\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	out, messages, err := (&Client{}).run(t.Context(), "", script)
	if out != "kept\n" || len(messages) != mostErrors || err != nil {
		t.Errorf("%q, %d bytes of messages, %v", out, len(messages), err)
	}
}
