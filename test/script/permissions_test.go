package script

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/permissions"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/test/fault"
)

// uses are runs of each command of permissions.Commands, as a member of a team. Those after a *
// may end with another code than 0. Those after a & run until Ctrl-C, which comes after
// their first line; after a ^ it is the first line of stderr.
var uses = map[string][]string{
	"cancel-job":                      {"cancel-job vit-huge", "cancel-job --all --yes"},
	"cancel-job --reason":             {"cancel-job --all --reason WaitingForQuota --yes"},
	"copy-file":                       {"copy-file ../../examples/train.yaml vit-huge:/tmp/", "* copy-file vit-huge:/tmp/missing " + os.DevNull},
	"create-template --team":          {"create-template t1 --file ../../examples/train.yaml --team"},
	"dashboard":                       {"dashboard", "dashboard --prometheus SERVER"},
	"delete-template":                 {"* delete-template t1", "* delete-template kueue-manager-config"},
	"exec":                            {"* exec vit-huge -- true"},
	"explain-job":                     {"explain-job vit-huge", "explain-job vit-huge" + withDevices},
	"get-job":                         {"get-job vit-huge", "get-job vit-huge --verbose", "get-job vit-huge --prometheus SERVER"},
	"get-log":                         {"* get-log vit-huge"},
	"get-queue":                       {"get-queue", "get-queue researchers --assume-duration 1h"},
	"get-quota":                       {"get-quota", "get-quota --from-status"},
	"get-usage":                       {"get-usage", "get-usage --mine --since 30d"},
	"list-jobs":                       {"list-jobs", "list-jobs --verbose", "list-jobs --idle --prometheus SERVER"},
	"list-pods":                       {"list-pods vit-huge"},
	"open-console":                    {"* open-console vit-huge --print"},
	"patch-job":                       {"patch-job suspend vit-huge", "patch-job unsuspend vit-huge", "patch-job priority vit-huge --priority inference"},
	"port-forward":                    {"& port-forward vit-huge :6006"},
	"report":                          {"report", "report --since 30d --by owner"},
	"start-job":                       {"start-job -f ../../examples/train.yaml --name x1", "start-job -f ../../examples/train.yaml --name x4 --upload ../../examples", "* start-job -f ../../examples/train.yaml --name x2 --dry-run", "* start-job -f ../../examples/train.yaml --name x3 --priority training --wait=admitted --timeout 1s", "start-job -f ../../examples/train.yaml --name x5 --sweep seed=1..2 --accelerators 1 --annotation cli.hyperpod/sandbox-duration=1s --max-parallel 1", "* start-job -f ../../examples/train.yaml --name x6 --sweep seed=1..2 --dry-run"},
	"start-job --on-interrupt cancel": {"* & start-job -f ../../examples/train.yaml --name x7 --wait=succeeded --on-interrupt cancel"},
	"start-job --upload-pvc":          {"start-job --name x8 --image example.com/i:1 --command python --entry-script t.py --instance-type ml.p5.48xlarge --accelerators 1 --upload ../../examples --upload-pvc shared"},
	"get-log --on-interrupt cancel":   {"* & get-log vit-huge -f --on-interrupt cancel"},
	"wait-job --on-interrupt cancel":  {"* ^ wait-job vit-huge --for succeeded --on-interrupt cancel"},
	"wait-job":                        {"* wait-job --mine --timeout 0", "* wait-job vit-huge --for running --timeout 1s", "* wait-job vit-huge --for deleted --timeout 1s"},
}

// TestPermissions: no command asks the API server for more than the table of package permissions
// grants.
func TestPermissions(t *testing.T) {
	t.Parallel()
	for _, c := range permissions.Commands() {
		if c.Name == "list-jobs --watch" || strings.HasPrefix(c.Name, "mcp") {
			continue // the first never ends, and its watches are those of wait-job; see TestMCPRights
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if len(uses[c.Name]) == 0 {
				t.Fatal("no use")
			}
			granted := permissions.Merge(c.Needs, c.Optional)
			deleted := false
			for _, line := range uses[c.Name] {
				for _, r := range requestsOf(t, line) {
					deleted = deleted || r.verb == "delete"
					if !slices.ContainsFunc(granted, func(g permissions.Permission) bool { return covers(g, r) }) {
						t.Errorf("hyperpod %s asks for %s", line, r)
					}
				}
			}
			if strings.HasSuffix(c.Name, "--on-interrupt cancel") && !deleted {
				t.Error("the interrupt cancels nothing")
			}
		})
	}
}

// TestMCPRights: the tools of mcp ask for no more than its rows in the table grant.
func TestMCPRights(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mcp", "mcp --allow start,cancel,patch"} {
		at := slices.IndexFunc(permissions.Commands(), func(c permissions.Command) bool { return c.Name == name })
		if at < 0 {
			t.Fatalf("no %s", name)
		}
		c := permissions.Commands()[at]
		home := t.TempDir()
		var rules []fault.Rule
		if name == "mcp" { // it works for an account that only reads
			rules = append(rules, fault.Rule{Method: http.MethodPost, Suffix: "/pytorchjobs", Status: http.StatusForbidden})
		}
		_, path, asks := observed(t, home, rules...)
		s := connectMCP(t, home, []string{"KUBECONFIG=" + path}, append(strings.Fields(name)[1:], "-n", "hyperpod-ns-researchers")...)
		for tool, err := range s.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains([]string{"get_clusters", "describe_cluster", "list_cluster_nodes", "list_cluster_events"}, tool.Name) {
				continue
			}
			arguments := map[string]any{}
			input := tool.InputSchema.(map[string]any)
			for _, required := range []string{"name", "priority", "team", "governance", "template"} {
				if of, _ := input["required"].([]any); slices.Contains(of, any(required)) {
					arguments[required] = map[string]string{"name": "vit-huge", "priority": "training", "team": "researchers", "governance": "version: hyperpod.policy/v1\n", "template": "kind: x\n"}[required]
				}
			}
			switch tool.Name {
			case "get_template":
				arguments["name"] = "pytorch"
			case "dry_run_job", "start_job":
				arguments = map[string]any{"name": "x", "template": "smpv2-llama2", "node_count": 1}
			case "cancel_job":
				arguments["name"] = "dino-giant"
			case "wait_job":
				arguments["timeout_seconds"] = 1
			}
			r := callTool(t, s, tool.Name, arguments)
			if m := tokenOf.FindStringSubmatch(texts(r)); m != nil {
				arguments["token"] = m[1]
				r = callTool(t, s, tool.Name, arguments)
			}
			if r.IsError {
				t.Errorf("%s: %s", tool.Name, texts(r))
			}
		}
		granted := permissions.Merge(c.Needs, c.Optional)
		for _, r := range asks() {
			if !slices.ContainsFunc(granted, func(g permissions.Permission) bool { return covers(g, r) }) {
				t.Errorf("hyperpod %s asks for %s", name, r)
			}
		}
	}
}

// tokenOf finds the token of a preview.
var tokenOf = regexp.MustCompile(`and token ([A-Z2-7]+)\.`)

// TestRecorderRights: record asks for no more than the ClusterRole of its manifest grants.
func TestRecorderRights(t *testing.T) {
	t.Parallel()
	requests := requestsOf(t, "record --samples 1 --directory "+t.TempDir())
	if len(requests) == 0 {
		t.Fatal("no requests")
	}
	for _, r := range requests {
		if !slices.ContainsFunc(permissions.Recorder(), func(g permissions.Permission) bool { return covers(g, r) }) {
			t.Errorf("record asks for %s", r)
		}
	}
}

// request is what a request asks for, as RBAC sees it.
type request struct{ verb, group, resource, namespace string }

func (r request) String() string {
	return fmt.Sprintf("%s %s.%s in %q", r.verb, r.resource, r.group, r.namespace)
}

func covers(g permissions.Permission, r request) bool {
	return g.Group == r.group && g.Resource == r.resource && slices.Contains(g.Verbs, r.verb) && (g.Cluster || r.namespace != "")
}

// observed serves a cluster over HTTP. It returns its address, a kubeconfig, and what was asked since.
func observed(t *testing.T, home string, rules ...fault.Rule) (address, kubeconfigPath string, asks func() []request) {
	t.Helper()
	box, err := sandbox.Create(context.Background(), filepath.Join(home, "box"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	proxy := fault.New(box, rules...)
	server := httptest.NewUnstartedServer(proxy)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	path := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(path, fmt.Appendf(nil, kubeconfig, server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(proxy.Requests())
	return server.URL, path, func() (out []request) {
		for _, r := range proxy.Requests()[before:] {
			method, path, _ := strings.Cut(r, " ")
			if q, ok := asked(method, path); ok && !slices.Contains(out, q) {
				out = append(out, q)
			}
		}
		return out
	}
}

// requestsOf runs a command line on a cluster over HTTP.
func requestsOf(t *testing.T, line string) []request {
	t.Helper()
	home := t.TempDir()
	server, path, asks := observed(t, home)
	if strings.Contains(line, "--upload-pvc") {
		createClaim(t, server)
	}
	line, devices := strings.CutSuffix(line, withDevices)
	if devices {
		mapDevices(t, server)
	}
	if strings.Contains(line, "--prometheus SERVER") {
		line = strings.ReplaceAll(line, "SERVER", busyAccelerators(t))
	}
	before := asks()
	line, mayFail := strings.CutPrefix(line, "* ")
	line, endless := strings.CutPrefix(line, "& ")
	line, waits := strings.CutPrefix(line, "^ ")
	env := []string{"XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "KUBECONFIG=" + path}
	run := func(args ...string) (string, error) {
		if !endless && !waits {
			return runWith(t, home, env, args...)
		}
		cmd := command(t, append([]string{"hyperpod"}, args...), append(env, "HOME="+home))
		open := cmd.StdoutPipe
		if waits {
			open = cmd.StderrPipe
		}
		stdout, err := open()
		if err != nil {
			return "", err
		}
		if err := cmd.Start(); err != nil {
			return "", err
		}
		first, err := bufio.NewReader(stdout).ReadString('\n')
		return first, errors.Join(err, cmd.Process.Signal(os.Interrupt), cmd.Wait())
	}
	if out, err := run(append(strings.Fields(line), "-n", "hyperpod-ns-researchers")...); err != nil && !mayFail {
		t.Fatalf("hyperpod %s: %v\n%s", line, err, out)
	}
	return slices.DeleteFunc(asks(), func(r request) bool { return slices.Contains(before, r) })
}

// busyAccelerators is a Prometheus that knows a pod of the team, so that commands look for its job.
func busyAccelerators(t *testing.T) (address string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, value := "vector", `"value":[1767225600,"1"]`
		if strings.HasSuffix(r.URL.Path, "_range") {
			kind, value = "matrix", `"values":[[1767225600,"1"]]`
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":%q,"result":[{"metric":{"namespace":"hyperpod-ns-researchers","pod":"vit-huge-worker-0","__name__":"DCGM_FI_DEV_GPU_UTIL"},%s}]}}`, kind, value)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// createClaim creates the claim "shared" for the team.
func createClaim(t *testing.T, server string) {
	t.Helper()
	claim := `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"shared"},"spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}}`
	answer, err := http.Post(server+"/api/v1/namespaces/hyperpod-ns-researchers/persistentvolumeclaims", "application/json", strings.NewReader(claim))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Fatal(answer.Status)
	}
}

// withDevices ends a run on a cluster whose Kueue counts the devices of resource claims.
const withDevices = " # devices"

// mapDevices adds a mapping of device classes to Kueue's configuration.
func mapDevices(t *testing.T, server string) {
	t.Helper()
	patch := `{"data":{"controller_manager_config.yaml":"fairSharing: {}\nresources: {deviceClassMappings: [{name: example.com/gpu, deviceClassNames: [gpu.example.com]}]}\n"}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, server+"/api/v1/namespaces/kueue-system/configmaps/kueue-manager-config", strings.NewReader(patch))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/merge-patch+json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
}

// asked is the RBAC request of a call; false for discovery and access reviews, which
// everyone may make.
func asked(method, path string) (request, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	r := request{}
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		r.group, parts = parts[1], parts[3:]
	default:
		return r, false
	}
	if r.group == "authorization.k8s.io" || r.group == "authentication.k8s.io" {
		return r, false
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		r.namespace, parts = parts[1], parts[2:]
	}
	r.resource = parts[0]
	named := len(parts) > 1
	if len(parts) > 2 {
		r.resource += "/" + parts[2]
	}
	switch method {
	case "POST":
		r.verb = "create"
	case "PUT":
		r.verb = "update"
	case "PATCH":
		r.verb = "patch"
	case "DELETE":
		r.verb = "delete"
	default:
		r.verb = "list"
		if named {
			r.verb = "get"
		}
	}
	return r, true
}

// TestTemplatesOfServices: the templates that start more than jobs need what docs/permissions.md names beside the table,
// and nothing else.
func TestTemplatesOfServices(t *testing.T) {
	t.Parallel()
	var granted []permissions.Permission
	for _, c := range permissions.Commands() {
		if c.Name == "start-job" || c.Name == "cancel-job" {
			granted = append(granted, permissions.Merge(c.Needs, c.Optional)...)
		}
	}
	for line, want := range map[string]string{
		"start-job --name s1 --template serve --image IMAGE --accelerators 1 --set SERVER_ARGS=[serve]": "create deployments, create services, get services, patch services",
		"start-job --name s2 --template fsdp-llama-etcd --image IMAGE --node-count 2":                   "create deployments, create services, get services, patch deployments, patch services",
	} {
		var more []string
		for _, r := range requestsOf(t, line) {
			if !slices.ContainsFunc(granted, func(g permissions.Permission) bool { return covers(g, r) }) {
				more = append(more, r.verb+" "+r.resource)
			}
		}
		slices.Sort(more)
		if got := strings.Join(slices.Compact(more), ", "); got != want {
			t.Errorf("hyperpod %s asks also for: %s; want %s", line, got, want)
		}
	}
}
