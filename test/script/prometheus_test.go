package script

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/report"
)

// exporter serves metrics, and tells how often they were scraped.
type exporter struct {
	*httptest.Server
	scraped chan struct{}
}

func newExporter(t *testing.T, text string) exporter {
	e := exporter{scraped: make(chan struct{}, 100)}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, text)
		select {
		case e.scraped <- struct{}{}:
		default:
		}
	}))
	t.Cleanup(e.Close)
	return e
}

// startPrometheus runs the prometheus of this machine on targets, and returns its address when each of them has been
// scraped. labels are those that it gives to the series of a target.
func startPrometheus(t *testing.T, targets []exporter, labels []string) string {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("no prometheus")
	}
	dir := t.TempDir()
	config := "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\nscrape_configs:\n"
	for i, e := range targets {
		config += fmt.Sprintf("- {job_name: target%d, static_configs: [{targets: ['%s'], labels: {%s}}]}\n", i, strings.TrimPrefix(e.URL, "http://"), labels[i])
	}
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	cmd := exec.CommandContext(t.Context(), program, "--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address, "--log.level", "error")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for _, e := range targets {
		for range 3 { // what one scrape brought is stored before the next but one
			select {
			case <-e.scraped:
			case <-time.After(30 * time.Second):
				t.Fatal("prometheus does not scrape")
			}
		}
	}
	return "http://" + address
}

// ask returns what a Prometheus says to a query, read without the product's client.
func ask(t *testing.T, address, query string) (values []float64) {
	t.Helper()
	resp, err := http.Get(address + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	var a struct {
		Status string
		Data   struct{ Result []struct{ Value [2]any } }
	}
	if err := json.Unmarshal(text, &a); err != nil || a.Status != "success" {
		t.Fatalf("%s: %s", query, text)
	}
	for _, r := range a.Data.Result {
		var v float64
		fmt.Sscan(r.Value[1].(string), &v)
		values = append(values, v)
	}
	return values
}

// TestPrometheus: a real Prometheus scrapes exporters of accelerators, and the commands show which jobs do nothing with what
// they have; and it scrapes the metrics of the product, and each panel of the Grafana dashboard gets data.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("no prometheus")
	}
	home := t.TempDir()
	get := func(args ...string) string {
		t.Helper()
		out, err := run(t, home, append(args, "--sandbox=box")...)
		if err != nil {
			t.Fatal(args, err)
		}
		return out
	}
	if _, err := run(t, home, "sandbox", "create", "box"); err != nil {
		t.Fatal(err)
	}
	podsOf := func(ns, job string) (names []string) {
		var list jobs.PodList
		if err := json.Unmarshal([]byte(get("list-pods", job, "-n", ns, "-o", "json")), &list); err != nil || len(list.Pods) == 0 {
			t.Fatal(err, list)
		}
		for _, p := range list.Pods {
			names = append(names, p.PodName)
		}
		return names
	}
	// vit-huge computes, on GPUs and on slices of one; chat-serving (a RayCluster) and sweep-17 do nothing; rag-eval has
	// Neuron devices. A GPU that nobody has, and a pod of another cluster, do not count.
	var gpu, neuron strings.Builder
	device := func(b *strings.Builder, metric, ns, pod string, n int, value float64) {
		fmt.Fprintf(b, "%s{gpu=\"%d\",UUID=\"GPU-%s-%[2]d\",modelName=\"H100\",namespace=%[4]q,pod=%[3]q,container=\"main\"} %[5]g\n", metric, n, pod, ns, value)
	}
	for i, p := range podsOf("hyperpod-ns-researchers", "vit-huge") {
		for n := range 7 {
			device(&gpu, "DCGM_FI_DEV_GPU_UTIL", "hyperpod-ns-researchers", p, n, []float64{100, 60}[i])
		}
		device(&gpu, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "hyperpod-ns-researchers", p, 0, 0.01) // GPU_UTIL counts
	}
	for _, p := range podsOf("hyperpod-ns-inference", "chat-serving") {
		device(&gpu, "DCGM_FI_DEV_GPU_UTIL", "hyperpod-ns-inference", p, 0, 2)
	}
	for _, p := range podsOf("hyperpod-ns-ml-engineers", "sweep-17") {
		device(&gpu, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "hyperpod-ns-ml-engineers", p, 0, 0.049)
	}
	device(&gpu, "DCGM_FI_DEV_GPU_UTIL", "", "", 9, 100)
	device(&gpu, "DCGM_FI_DEV_GPU_UTIL", "elsewhere", "pod-0", 9, 100)
	for _, p := range podsOf("hyperpod-ns-inference", "rag-eval") {
		for core := range 4 {
			fmt.Fprintf(&neuron, "neuroncore_utilization_ratio{neuroncore=\"%d\",pod_name=%q,pod_namespace=\"hyperpod-ns-inference\"} 0.25\n", core, p)
		}
	}
	own := get("get-quota", "-o", "prometheus") + get("get-queue", "-o", "prometheus") + get("get-quota", "--by", "instance-type", "-o", "prometheus")
	at := startPrometheus(t, []exporter{newExporter(t, gpu.String()), newExporter(t, neuron.String()), newExporter(t, unique(own)), newExporter(t, unique(faulty(t, home)))},
		[]string{"namespace: gpu, pod: dcgm-exporter-x", "", "cluster: box", "cluster: faulty"})

	rows := func(args ...string) map[string]float64 {
		t.Helper()
		var list jobs.List[jobs.VerboseRow]
		if err := json.Unmarshal([]byte(get(append([]string{"list-jobs", "-A", "-o", "json", "--prometheus", at}, args...)...)), &list); err != nil {
			t.Fatal(err)
		}
		out := map[string]float64{}
		for _, j := range list.Jobs {
			if out[j.Name] = -1; j.Utilization != nil {
				out[j.Name] = *j.Utilization
			}
		}
		return out
	}
	near := func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }
	if got := rows("--idle"); len(got) != 2 || !near(got["chat-serving"], 0.02) || !near(got["sweep-17"], 0.049) {
		t.Error(got)
	}
	if got := rows(); len(got) != 14 || !near(got["vit-huge"], 0.8) || !near(got["rag-eval"], 0.25) || got["dino-giant"] != -1 || got["lab-resnet"] != -1 {
		t.Error(got)
	}
	if got := get("get-job", "sweep-17", "-n", "hyperpod-ns-ml-engineers", "--prometheus", at, "-o", "table"); !strings.Contains(got, "busy      5 % of the last 30m: allocated but idle") {
		t.Error(got)
	}
	if got := get("dashboard", "--prometheus", at); !strings.Contains(got, "; 16 allocated but idle") || !strings.Contains(got, "80 %") {
		t.Error(got)
	}
	// A report of the hour: 8 of the 16 hours of vit-huge's accelerators, and so on.
	var d report.Document
	if err := json.Unmarshal([]byte(get("report", "--since", "1h", "--prometheus", at, "-o", "json")), &d); err != nil {
		t.Fatal(err)
	}
	// Before midnight, Prometheus measured nothing: the rows of a team are summed up.
	measured, unused := map[string]float64{}, map[string]float64{}
	for _, r := range d.Rows {
		if r.Resource != report.CPU && r.Used > 0 && r.Measured != nil && r.Unused != nil {
			measured[r.Team] += *r.Measured
			unused[r.Team] += *r.Unused
		}
	}
	for team, share := range map[string]float64{"researchers": 0.2, "ml-engineers": 0.951} {
		if measured[team] == 0 || !near(unused[team], share*measured[team]) {
			t.Errorf("%s: %v of %v unused, in %+v", team, unused[team], measured[team], d.Rows)
		}
	}
	if d.Total.Measured["nvidia.com/gpu"] <= 0 || d.Total.Measured["nvidia.com/gpu"] > d.Total.Used["nvidia.com/gpu"] {
		t.Error(d.Total)
	}
	if got := get("report", "--since", "1h", "--by", "owner", "--prometheus", at, "-o", "table"); !strings.Contains(got, "UNUSED") || !strings.Contains(got, "allocated but unused: ") {
		t.Error(got)
	}

	// The settings name the server for all commands; the password is not shown.
	secret := strings.Replace(at, "http://", "http://ada:s3cret@", 1)
	if _, err := run(t, home, "config", "set", "prometheus", secret); err != nil {
		t.Fatal(err)
	}
	if got := get("list-jobs", "-A", "--idle", "-o", "name"); !strings.Contains(got, "sweep-17") || strings.Contains(got, "vit-huge") {
		t.Error(got)
	}
	shown, err := run(t, home, "config", "view", "-o", "json")
	if err != nil || strings.Contains(shown, "s3cret") || !strings.Contains(shown, "ada:") {
		t.Error(shown, err)
	}
	if out, err := run(t, home, "list-jobs", "-A", "--idle", "--sandbox=box", "--debug", "--prometheus", "http://ada:s3cret@127.0.0.1:1"); err == nil || strings.Contains(out+err.Error(), "s3cret") {
		t.Error(out, err)
	}

	panels(t, at)
}

// panels asks each query of the Grafana dashboard.
func panels(t *testing.T, at string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			asked++
			if len(ask(t, at, strings.NewReplacer("$team", ".*", "$resource", ".*").Replace(target.Expr))) == 0 {
				t.Errorf("%s: no data: %s", p.Title, target.Expr)
			}
		}
	}
	if asked < 20 {
		t.Error(asked)
	}
	// The figures arrive as they are.
	if got := ask(t, at, `sum(hyperpod_cluster_queue_nominal_quota{resource="nvidia.com/gpu",cluster="box"})`); len(got) != 1 || got[0] <= 0 {
		t.Error(got)
	}
}

// unique leaves the comments out: several commands describe the same metric.
func unique(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.HasPrefix(l, "#") })
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") + "\n"
}

// faulty are the metrics of a cluster whose quota has problems.
func faulty(t *testing.T, home string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "faulty.yaml")
	if err := os.WriteFile(file, []byte(`
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: stopped}
spec:
  stopPolicy: Hold
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: missing, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]
---
apiVersion: v1
kind: List
items: []
`), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := run(t, home, "get-quota", "--snapshot", file, "-o", "prometheus")
	if err != nil {
		t.Fatal(err)
	}
	return out
}
