package script

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/permissions"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/test/fault"
)

// uses are runs of each command of permissions.Commands, as a member of a team. Those after a *
// may end with another code than 0. Those after a & run until Ctrl-C, which comes after
// their first line.
var uses = map[string][]string{
	"cancel-job":             {"cancel-job vit-huge", "cancel-job --all --yes"},
	"cancel-job --reason":    {"cancel-job --all --reason WaitingForQuota --yes"},
	"copy-file":              {"copy-file ../../examples/train.yaml vit-huge:/tmp/", "* copy-file vit-huge:/tmp/missing " + os.DevNull},
	"create-template --team": {"create-template t1 --file ../../examples/train.yaml --team"},
	"dashboard":              {"dashboard"},
	"delete-template":        {"* delete-template t1", "* delete-template kueue-manager-config"},
	"exec":                   {"* exec vit-huge -- true"},
	"explain-job":            {"explain-job vit-huge"},
	"get-job":                {"get-job vit-huge", "get-job vit-huge --verbose"},
	"get-log":                {"* get-log vit-huge"},
	"get-queue":              {"get-queue", "get-queue researchers --assume-duration 1h"},
	"get-quota":              {"get-quota", "get-quota --from-status"},
	"get-usage":              {"get-usage", "get-usage --mine --since 30d"},
	"list-jobs":              {"list-jobs", "list-jobs --verbose"},
	"list-pods":              {"list-pods vit-huge"},
	"open-console":           {"* open-console vit-huge --print"},
	"patch-job":              {"patch-job suspend vit-huge", "patch-job unsuspend vit-huge", "patch-job priority vit-huge --priority inference"},
	"port-forward":           {"& port-forward vit-huge :6006"},
	"start-job":              {"start-job -f ../../examples/train.yaml --name x1", "start-job -f ../../examples/train.yaml --name x4 --upload ../../examples", "* start-job -f ../../examples/train.yaml --name x2 --dry-run", "* start-job -f ../../examples/train.yaml --name x3 --priority training --wait=admitted --timeout 1s", "start-job -f ../../examples/train.yaml --name x5 --sweep seed=1..2 --accelerators 1 --annotation cli.hyperpod/sandbox-duration=1s --max-parallel 1", "* start-job -f ../../examples/train.yaml --name x6 --sweep seed=1..2 --dry-run"},
	"wait-job":               {"* wait-job --mine --timeout 0", "* wait-job vit-huge --for running --timeout 1s", "* wait-job vit-huge --for deleted --timeout 1s"},
}

// TestPermissions: no command asks the API server for more than the table of package permissions
// grants.
func TestPermissions(t *testing.T) {
	t.Parallel()
	for _, c := range permissions.Commands() {
		if c.Name == "list-jobs --watch" {
			continue // never ends; the watches are those of wait-job
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if len(uses[c.Name]) == 0 {
				t.Fatal("no use")
			}
			granted := permissions.Merge(c.Needs, c.Optional)
			for _, line := range uses[c.Name] {
				for _, r := range requestsOf(t, line) {
					if !slices.ContainsFunc(granted, func(g permissions.Permission) bool { return covers(g, r) }) {
						t.Errorf("hyperpod %s asks for %s", line, r)
					}
				}
			}
		})
	}
}

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

// requestsOf runs a command line on a cluster over HTTP.
func requestsOf(t *testing.T, line string) []request {
	t.Helper()
	home := t.TempDir()
	box, err := sandbox.Create(context.Background(), filepath.Join(home, "box"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	proxy := fault.New(box)
	server := httptest.NewUnstartedServer(proxy)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	defer server.Close()
	path := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(path, fmt.Appendf(nil, kubeconfig, server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	line, mayFail := strings.CutPrefix(line, "* ")
	line, endless := strings.CutPrefix(line, "& ")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), self, args...)
		cmd.Args[0] = "hyperpod"
		cmd.Env = []string{"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "KUBECONFIG=" + path, "TZ=UTC", "USER=ada"}
		if !endless {
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		stdout, err := cmd.StdoutPipe()
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
	var requests []request
	for _, r := range proxy.Requests() {
		method, path, _ := strings.Cut(r, " ")
		if q, ok := asked(method, path); ok && !slices.Contains(requests, q) {
			requests = append(requests, q)
		}
	}
	return requests
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
