package report

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/history"
)

// TestAwkFindsTheSameSums: samples of every minute, summed by an awk script that knows nothing of stores and phases, give
// what a report from the store of a recorder says, to the second of each device. The test takes a night and 40 jobs at a
// time; HYPERPOD_DAYS and HYPERPOD_JOBS set other numbers. A month of 2,000 jobs takes 86 million lines.
func TestAwkFindsTheSameSums(t *testing.T) {
	awk, err := exec.LookPath("awk")
	if err != nil {
		t.Skip("no awk")
	}
	samples, limit := 10*60, 40
	if n, err := strconv.Atoi(os.Getenv("HYPERPOD_DAYS")); err == nil {
		samples = n * 24 * 60
	}
	if n, err := strconv.Atoi(os.Getenv("HYPERPOD_JOBS")); err == nil {
		limit = n
	}
	dir := filepath.Join(t.TempDir(), "store")
	w, err := history.Open(dir, history.Options{Cluster: "c", Pace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), awk, "-f", "testdata/sum.awk")
	var sums bytes.Buffer
	cmd.Stdout, cmd.Stderr = &sums, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewWriterSize(in, 1<<16)

	r, begin := rand.New(rand.NewPCG(19, 31)), start.Add(20*time.Hour) // the first segment ends after four hours
	var jobs []history.Observed
	made, now := 0, begin
	for range samples {
		last := now
		now = now.Add(time.Minute)
		between := func() time.Time { return last.Add(time.Duration(1+r.IntN(60)) * time.Second) }
		for len(jobs) < limit {
			made++
			jobs = append(jobs, history.Observed{Job: history.Job{UID: fmt.Sprint("uid-", made), Name: fmt.Sprint("job-", made), Namespace: "ns", Team: fmt.Sprint("team-", r.IntN(5)),
				Owner: fmt.Sprint("owner-", r.IntN(9)), Devices: map[string]int64{gpu: 1 + r.Int64N(64)}}, Phases: []history.Change{{Time: between(), Phase: history.Waiting}}})
		}
		kept := jobs[:0:0]
		for _, j := range jobs {
			if was := j.Phases[len(j.Phases)-1]; was.Time.Before(last) && r.IntN(30) == 0 {
				next := history.Change{Time: between()}
				switch {
				case was.Phase.Over():
					continue // deleted
				case was.Phase.Waits():
					next.Phase, next.Borrowed = history.Holding, map[string]int64{gpu: r.Int64N(j.Devices[gpu] + 1)}
				case r.IntN(3) == 0:
					next.Phase, next.Reason = history.Preempted, "InCohortReclamation"
				default:
					next.Phase = history.Succeeded
				}
				j.Phases = append(j.Phases[:len(j.Phases):len(j.Phases)], next)
			} else if was.Time.Before(last) && r.IntN(2000) == 0 {
				continue // deleted while it ran or waited
			}
			kept = append(kept, j)
			p := j.Phases[len(j.Phases)-1]
			fmt.Fprintln(lines, now.Unix(), j.UID, j.Team, j.Owner, j.Devices[gpu], p.Phase, p.Time.Unix(), p.Borrowed[gpu])
		}
		jobs = kept
		if ok, err := w.Append(history.Observation{Time: now, Jobs: jobs, JobsComplete: true}); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := lines.Flush(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}

	began := time.Now()
	data, err := history.Read(dir, begin, now)
	if err != nil {
		t.Fatal(err)
	}
	d := Build(data, Options{From: begin, To: now, Source: Recorded})
	t.Logf("%d samples of %d jobs in all, summed in %v", data.Samples, len(data.Jobs), time.Since(began).Round(time.Millisecond))
	rows := map[string]Row{"total": d.Total}
	for _, row := range append(d.Teams, d.Owners...) {
		rows[row.Name] = row
	}
	compared := 0
	for text := bufio.NewScanner(&sums); text.Scan(); compared++ {
		var name string
		var want [3]float64
		if _, err := fmt.Sscan(text.Text(), &name, &want[0], &want[1], &want[2]); err != nil {
			t.Fatal(text.Text(), err)
		}
		row := rows[name]
		for i, got := range []float64{row.Used[gpu], row.Borrowed[gpu], row.Waited[gpu]} {
			if math.Abs(got*3600-want[i]) > 0.1+want[i]*1e-12 {
				t.Errorf("%s, %s: %f device-seconds, awk found %.0f", name, []string{"used", "borrowed", "waited"}[i], got*3600, want[i])
			}
		}
	}
	if compared != 15 || len(data.Jobs) != made {
		t.Errorf("compared %d names; %d jobs of %d", compared, len(data.Jobs), made)
	}
}
