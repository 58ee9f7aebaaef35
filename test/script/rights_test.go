package script

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// right is one verb on a resource in the namespace of the team.
type right struct{ verb, group, resource string }

func (r right) String() string { return r.verb + " " + r.resource }

// memberRights are those of Kueue's batch-user role, and those on pods that commands about running jobs need. None is for
// the whole cluster.
func memberRights() (out []right) {
	give := func(group, resource string, verbs ...string) {
		for _, v := range verbs {
			out = append(out, right{v, group, resource})
		}
	}
	for _, k := range kinds.Jobs() {
		give(k.Group, k.Plural, "create", "delete", "get", "list", "patch", "watch")
	}
	give(kinds.KueueGroup, "workloads", "get", "list", "patch", "watch")
	give(kinds.KueueGroup, "localqueues", "get", "list", "watch")
	give("visibility.kueue.x-k8s.io", "localqueues/pendingworkloads", "get")
	give("", "pods", "get", "list", "watch")
	give("", "pods/log", "get")
	give("", "pods/exec", "create", "get")
	give("", "pods/portforward", "create", "get")
	give("", "configmaps", "create", "delete", "get", "list", "patch", "update")
	return out
}

// authorizer answers requests outside of the rights like an API server, and records the requests.
type authorizer struct {
	next   http.Handler
	mu     sync.Mutex
	rights []right
	asked  []right
}

// set replaces the rights and forgets the requests.
func (a *authorizer) set(rights []right) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rights, a.asked = rights, nil
}

// uses are the rights that requests used.
func (a *authorizer) uses() []right {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

// may reports whether a request is granted, and remembers it.
func (a *authorizer) may(r right, namespaced bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	ok := namespaced && slices.Contains(a.rights, r)
	if ok && !slices.Contains(a.asked, r) {
		a.asked = append(a.asked, r)
	}
	return ok
}

func (a *authorizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") {
		var review struct {
			Spec struct {
				ResourceAttributes struct{ Namespace, Verb, Group, Resource, Subresource string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		q := review.Spec.ResourceAttributes
		if q.Subresource != "" {
			q.Resource += "/" + q.Subresource
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","status":{"allowed":%t}}`, a.may(right{q.Verb, q.Group, q.Resource}, q.Namespace != ""))
		return
	}
	q, ok := asked(r.Method, r.URL.Path)
	if watch := r.URL.Query().Get("watch"); q.verb == "list" && (watch == "true" || watch == "1") {
		q.verb = "watch"
	}
	if ok && !a.may(right{q.verb, q.group, q.resource}, q.namespace != "") {
		resource := q.resource
		if q.group != "" {
			resource += "." + q.group
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"%s is forbidden: User \"ada\" cannot %s resource \"%s\" in API group \"%s\" in the namespace \"%s\""}`,
			resource, q.verb, q.resource, q.group, q.namespace)
		return
	}
	a.next.ServeHTTP(w, r)
}

// memberCommands are what a member does in a week, each on a job that no other line changes. NEW is a new name in
// each run, of a template of the team for delete-template. Those after a & run until Ctrl-C, which comes after their
// first line.
var memberCommands = []string{
	"list-jobs -o table", "get-job vit-huge -o table", "list-pods vit-huge -o table", "explain-job dino-giant -o table", "get-queue -o table", "get-quota -o table", "get-usage -o table",
	"get-log vit-huge --tail 1", "exec vit-huge -- true", "copy-file ../../examples/train.yaml vit-huge:/tmp/", "wait-job vit-huge --for running --timeout 5s",
	"list-templates", "start-job -f ../../examples/train.yaml --dry-run -o table", "cancel-job vit-huge --dry-run=server", "report -o table",
	"list-jobs --mine --sort-by age -o table", "get-usage --mine -o table", "explain-job vit-huge -o table", "dashboard", "doctor",
	"start-job -f ../../examples/train.yaml --name NEW --accelerators 1 --annotation cli.hyperpod/sandbox-duration=1s",
	"start-job -f ../../examples/train.yaml --name NEW --accelerators 1 --annotation cli.hyperpod/sandbox-duration=1s --sweep seed=1..2",
	"start-job --name NEW --image example.com/i:1 --command python --entry-script t.py --instance-type ml.p5.48xlarge --accelerators 1 --upload ../../examples --annotation cli.hyperpod/sandbox-duration=1s",
	"create-template NEW --job vit-huge --team", "create-template NEW --job vit-huge --dry-run=client", "patch-job priority dino-giant --priority training", "& port-forward vit-huge :6006",
	"open-console linked --print", "delete-template NEW --yes", "wait-job --sweep swept --timeout 1m",
	"start-job --name NEW --image example.com/i:1 --command python --entry-script t.py --instance-type ml.p5.48xlarge --accelerators 1 --upload ../../examples --upload-pvc shared --annotation cli.hyperpod/sandbox-duration=1s",
}

// TestMemberWithoutNamespaceFlag runs commands without -n, where only the kubeconfig names the member's namespace.
func TestMemberWithoutNamespaceFlag(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	box, err := sandbox.Create(context.Background(), filepath.Join(home, "box"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	gate := &authorizer{next: box, rights: memberRights()}
	server := httptest.NewServer(gate)
	defer server.Close()
	config := filepath.Join(home, "kubeconfig")
	text := strings.Replace(fmt.Sprintf(kubeconfig, server.URL), "{cluster: test, user: test}", "{cluster: test, user: test, namespace: hyperpod-ns-researchers}", 1)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"list-jobs", "get-job vit-huge", "get-queue", "get-quota", "get-usage", "report", "report --by owner", "record --samples 1 --directory " + home + "/history"} {
		if out, err := runWith(t, home, []string{"KUBECONFIG=" + config}, strings.Fields(line)...); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}

// TestMemberWithoutOneRight takes each single right from a member that a command uses. The command works without it, or
// names it in one error.
func TestMemberWithoutOneRight(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	box, err := sandbox.Create(context.Background(), filepath.Join(home, "box"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	gate := &authorizer{next: box}
	server := httptest.NewUnstartedServer(gate)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	defer server.Close()
	config := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(config, fmt.Appendf(nil, kubeconfig, server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	open := httptest.NewServer(box)
	defer open.Close()
	createClaim(t, open.URL)
	all := memberRights()
	env := []string{"KUBECONFIG=" + config}
	member := func(line string) []string {
		return append([]string{"-n", "hyperpod-ns-researchers"}, strings.Fields(line)...)
	}
	prepare := func(line string) {
		t.Helper()
		gate.set(all)
		if out, err := runWith(t, home, env, member(line)...); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	prepare("start-job -f ../../examples/train.yaml --name swept --accelerators 1 --annotation cli.hyperpod/sandbox-duration=1s --sweep seed=1..2")
	prepare("start-job -f ../../examples/train.yaml --name linked --accelerators 1 --annotation example.com/tensorboard=http://127.0.0.1/x")
	runs := 0
	run := func(line string, rights []right) (code int, stdout, stderr string) {
		runs++
		line, endless := strings.CutPrefix(strings.ReplaceAll(line, "NEW", fmt.Sprintf("new-%d", runs)), "& ")
		if strings.HasPrefix(line, "delete-template") {
			prepare(fmt.Sprintf("create-template new-%d --job vit-huge --team", runs))
		}
		gate.set(rights)
		if !endless {
			exit, stdout, stderr := outcome(t, home, env, member(line)...)
			return int(exit), stdout, stderr
		}
		cmd := command(t, append([]string{"hyperpod"}, member(line)...), append(env, "HOME="+home))
		var errs strings.Builder
		cmd.Stderr = &errs
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		first, _ := bufio.NewReader(pipe).ReadString('\n') // "" if it ends by itself
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if code = cmd.ProcessState.ExitCode(); code == 130 && first != "" {
			code = 0
		}
		return code, first, errs.String()
	}
	rare := map[string]bool{}
	for _, k := range kinds.Jobs() {
		rare[k.Plural] = k.Kind != "PyTorchJob" && k.Kind != "Job"
	}
	tried := 0
	for _, line := range memberCommands {
		code, stdout, stderr := run(line, all)
		verdict := strings.Contains(line, "--dry-run -o") // its exit codes are verdicts
		if code != 0 && !verdict {
			t.Errorf("%s: exit code %d\n%s%s", line, code, stdout, stderr)
			continue
		}
		for _, gone := range gate.uses() {
			switch {
			case strings.HasPrefix(gone.resource, "pods/") && gone.verb == "get" && gone.resource != "pods/log":
				continue // streams fall back to SPDY, which a sandbox does not have
			case rare[gone.resource] && line != memberCommands[0]:
				continue // the other commands treat these kinds as they treat Jobs
			}
			tried++
			left := slices.DeleteFunc(slices.Clone(all), func(r right) bool { return r == gone })
			code, stdout, stderr := run(line, left)
			named := strings.Contains(stdout+stderr, strings.TrimSuffix(strings.SplitN(gone.resource, "/", 2)[0], "s"))
			switch {
			case code == 0, code == 4 && named && strings.Count(stderr, "Error:") == 1:
			case verdict && (strings.HasPrefix(stdout, "UNKNOWN") || named):
			default:
				t.Errorf("%s without %s: exit code %d\n%s%s", line, gone, code, stdout, stderr)
			}
			if n := strings.Count(stderr, "are hidden"); n > 2 {
				t.Errorf("%s without %s: %d notes\n%s", line, gone, n, stderr)
			}
		}
	}
	if tried < 120 {
		t.Errorf("only %d combinations", tried)
	}
	t.Logf("%d combinations", tried)
}
