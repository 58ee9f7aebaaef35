package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/test/browser"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// jobsOfFigures is how many jobs figuresOfMany starts; HYPERPOD_JOBS sets another number.
func jobsOfFigures(t *testing.T) int {
	text := os.Getenv("HYPERPOD_JOBS")
	if text == "" {
		return 120
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// teamFigures are numbers of jobs, and devices.
type teamFigures struct{ Used, Running, Waiting int64 }

// figuresOfMany compares what the dashboard, get-quota and list-jobs count with Kueue's own status and with sums over
// what kubectl lists, to the last device: more jobs of one GPU than the 80 GPUs of the enterprise take.
func figuresOfMany(t *testing.T, bed *cluster.Bed) {
	admin := newUser(t, bed.Kubeconfig)
	teams := []string{"data-platform", "inference", "interns", "ml-engineers", "researchers"}
	total := jobsOfFigures(t)
	var group sync.WaitGroup
	failed := make([]error, len(teams))
	for i, team := range teams {
		group.Go(func() {
			ns := "hyperpod-ns-" + team
			for n := i; n < total && failed[i] == nil; n += len(teams) {
				body := fmt.Appendf(nil, `{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"many-%d","labels":{"kueue.x-k8s.io/queue-name":"%s-localqueue"}},
					"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":1,"restartPolicy":"OnFailure","template":{"spec":{"nodeSelector":{"node.kubernetes.io/instance-type":"%s"},"containers":[
					{"name":"pytorch","image":"i","resources":{"limits":{"nvidia.com/gpu":1}}}]}}}}}}`, n, ns, []string{"ml.p4d.24xlarge", "ml.p5.48xlarge"}[n/len(teams)%2])
				_, failed[i] = bed.Request(t.Context(), http.MethodPost, "/apis/kubeflow.org/v1/namespaces/"+ns+"/pytorchjobs", "application/json", body)
			}
		})
	}
	group.Wait()
	for _, err := range failed {
		if err != nil {
			t.Fatal(err)
		}
	}
	// Kueue still decides at first: figures count if its status is the same before and after they are read.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var theirs map[string]teamFigures
	if err := bed.WaitFor(ctx, "figures that agree", func(context.Context) error {
		status, jobs := statusFigures(t, bed)
		if theirs = status; jobs != int64(total) {
			return fmt.Errorf("ClusterQueues count %d of %d jobs", jobs, total)
		}
		for _, ours := range []struct {
			what string
			read func() map[string]teamFigures
		}{
			{"the workloads that kubectl lists", func() map[string]teamFigures { return workloadFigures(t, bed) }},
			{"get-quota", func() map[string]teamFigures { return quotaFigures(t, admin) }},
			{"the dashboard", func() map[string]teamFigures { return dashboardFigures(t, admin) }},
			{"the browser", func() map[string]teamFigures { return browserFigures(t, admin, len(status)) }},
		} {
			if err := differ(ours.what, ours.read(), status); err != nil {
				return err
			}
		}
		later, _ := statusFigures(t, bed)
		return differ("a moment later", later, status)
	}); err != nil {
		t.Fatal(err)
	}
	listed := 0
	for _, j := range admin.list("-A").Jobs {
		if strings.HasPrefix(j.Name, "many-") {
			listed++
		}
	}
	if listed != total {
		t.Errorf("list-jobs has %d of %d jobs", listed, total)
	}
	var used, waiting int64
	for _, f := range theirs {
		used, waiting = used+f.Used, waiting+f.Waiting
	}
	t.Logf("%d jobs: %d devices used, %d jobs wait", total, used, waiting)
	if used == 0 || waiting == 0 {
		t.Error("nothing runs, or nothing waits: the comparison proves nothing")
	}
	var namespaces []string
	for _, team := range teams {
		namespaces = append(namespaces, "hyperpod-ns-"+team)
	}
	noJobs(admin, namespaces...)
}

func differ(what string, ours, theirs map[string]teamFigures) error {
	if len(ours) != len(theirs) {
		return fmt.Errorf("%s: %d teams, Kueue has %d", what, len(ours), len(theirs))
	}
	for team, f := range theirs {
		if ours[team] != f {
			return fmt.Errorf("%s: %s has %+v, Kueue's status %+v", what, team, ours[team], f)
		}
	}
	return nil
}

func shortTeam(queue string) string {
	return strings.TrimSuffix(strings.TrimPrefix(queue, "hyperpod-ns-"), "-clusterqueue")
}

func kubectlJSON(t *testing.T, bed *cluster.Bed, into any, args ...string) {
	t.Helper()
	text, err := bed.Kubectl(t.Context(), append(args, "-o", "json")...)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// statusFigures are those of the status of the ClusterQueues, and the number of their jobs.
func statusFigures(t *testing.T, bed *cluster.Bed) (out map[string]teamFigures, jobs int64) {
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Status   struct {
				AdmittedWorkloads, PendingWorkloads int64
				FlavorsUsage                        []struct {
					Resources []struct {
						Name  string
						Total resource.Quantity
					}
				}
			}
		}
	}
	kubectlJSON(t, bed, &list, "get", "clusterqueues")
	out = map[string]teamFigures{}
	for _, q := range list.Items {
		f := teamFigures{Running: q.Status.AdmittedWorkloads, Waiting: q.Status.PendingWorkloads}
		for _, flavor := range q.Status.FlavorsUsage {
			for _, r := range flavor.Resources {
				if r.Name == "nvidia.com/gpu" {
					f.Used += r.Total.Value()
				}
			}
		}
		out[shortTeam(q.Metadata.Name)] = f
		jobs += f.Running + f.Waiting
	}
	return out, jobs
}

// workloadFigures are sums over the workloads: those of the queue that admitted them, or in which they wait.
func workloadFigures(t *testing.T, bed *cluster.Bed) map[string]teamFigures {
	type condition struct{ Type, Status string }
	var list struct {
		Items []struct {
			Metadata struct{ Namespace string }
			Status   struct {
				Conditions []condition
				Admission  *struct {
					ClusterQueue      string
					PodSetAssignments []struct{ ResourceUsage map[string]resource.Quantity }
				}
			}
		}
	}
	kubectlJSON(t, bed, &list, "get", "workloads.kueue.x-k8s.io", "-A")
	out := map[string]teamFigures{}
	for _, w := range list.Items {
		if slices.ContainsFunc(w.Status.Conditions, func(c condition) bool { return c.Type == "Finished" && c.Status == "True" }) {
			continue // it keeps its admission and holds nothing
		}
		team := strings.TrimPrefix(w.Metadata.Namespace, "hyperpod-ns-")
		f := out[team]
		if w.Status.Admission == nil {
			f.Waiting++
		} else {
			f.Running++
			for _, ps := range w.Status.Admission.PodSetAssignments {
				amount := ps.ResourceUsage["nvidia.com/gpu"]
				f.Used += amount.Value()
			}
		}
		out[team] = f
	}
	return out
}

func quotaFigures(t *testing.T, u user) map[string]teamFigures {
	var d struct {
		Quota []struct {
			ClusterQueue string
			Used         int64
		}
		Teams []struct {
			ClusterQueue     string
			Running, Waiting int64
		}
	}
	if err := json.Unmarshal([]byte(u.ok("get-quota", "-o", "json")), &d); err != nil {
		t.Fatal(err)
	}
	out := map[string]teamFigures{}
	for _, team := range d.Teams {
		out[shortTeam(team.ClusterQueue)] = teamFigures{Running: team.Running, Waiting: team.Waiting}
	}
	for _, row := range d.Quota {
		f := out[shortTeam(row.ClusterQueue)]
		f.Used += row.Used
		out[shortTeam(row.ClusterQueue)] = f
	}
	return out
}

// dashboardFigures reads the Teams tab of the printed dashboard by the titles of its columns.
func dashboardFigures(t *testing.T, u user) map[string]teamFigures {
	_, text, _ := strings.Cut(u.ok("dashboard"), "\nTeams: ")
	text, _, _ = strings.Cut(text, "\n\n")
	lines := strings.Split(text, "\n")[1:]
	titles := strings.Fields(lines[0])
	out := map[string]teamFigures{}
	for _, line := range lines[1:] {
		cells := map[string]int64{}
		fields := strings.Fields(line)
		for i, title := range titles {
			cells[title], _ = strconv.ParseInt(fields[i], 10, 64)
		}
		out[fields[0]] = teamFigures{Used: cells["USED"], Running: cells["RUNNING"], Waiting: cells["WAITING"]}
	}
	return out
}

// browserFigures reads the Teams tab of dashboard --web in a real browser. Without one it returns those of the dashboard.
func browserFigures(t *testing.T, u user, teams int) (out map[string]teamFigures) {
	if _, err := exec.LookPath("chromium"); err != nil {
		return dashboardFigures(t, u)
	}
	cmd := u.command("dashboard", "--web", "--no-browser")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	link, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	page := browser.Open(t)
	page.Goto(strings.TrimSpace(link) + "#1")
	page.Until(fmt.Sprintf(`document.querySelectorAll('#body tr').length === %d`, teams))
	var rows [][]string
	text := page.Eval(`JSON.stringify([...document.querySelectorAll('#head th, #body tr')].map((r) => r.tagName === 'TH' ? [r.textContent] : [...r.children].map((c) => c.textContent)))`)
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatal(err)
	}
	page.Accessible("Teams on a real cluster")
	page.Shoot("real-teams", 1200, "light")
	var titles []string
	out = map[string]teamFigures{}
	for _, row := range rows {
		if len(row) == 1 {
			titles = append(titles, row[0])
			continue
		}
		cells := map[string]int64{}
		for i, title := range titles {
			cells[title], _ = strconv.ParseInt(row[i], 10, 64)
		}
		out[row[0]] = teamFigures{Used: cells["USED"], Running: cells["RUNNING"], Waiting: cells["WAITING"]}
	}
	return out
}
