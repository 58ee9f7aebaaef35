package script

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// canaries are the secrets that TestCanaries plants, by the place where each is.
var canaries = map[string]string{
	"token of the kubeconfig":          "canary-3f9a-kubetoken",
	"password of the kubeconfig":       "canary-81cc-password",
	"variable of a credential plugin":  "canary-5d20-pluginenv",
	"token of a credential plugin":     "canary-c7e1-plugintoken",
	"password of a proxy":              "canary-90ab-proxy",
	"value of a Secret":                "canary-2b64-secretdata",
	"variable of a job":                "canary-e8f3-jobenv",
	"variable of a job, from a file":   "canary-a415-envfile",
	"argument of a job":                "canary-76d9-argument",
	"last applied form of a job":       "canary-1c0e-lastapplied",
	"address of a notification":        "canary-d2b7-webhook",
	"secret access key":                fake.SecretKey,
	"token that signs in to a cluster": "k8s-aws-v1.",
}

// ofJob are the canaries that are parts of a job: everybody who may read the job can read them, so its manifest has them,
// on stdout alone.
var ofJob = []string{"variable of a job", "variable of a job, from a file", "argument of a job"}

// forms are the ways to write a canary.
func forms(canary string) []string {
	out := []string{canary, base64.StdEncoding.EncodeToString([]byte(canary)), url.QueryEscape(canary)}
	return slices.Compact(out)
}

// canaryWorld is the world of the test: a home, and what the commands said.
type canaryWorld struct {
	t    *testing.T
	home string
	env  []string
}

// run runs a command and searches what it says. may are the canaries that may be on stdout. It
// returns what the command said on stderr.
func (w *canaryWorld) run(may []string, args ...string) string {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.CommandContext(w.t.Context(), self, args...)
	cmd.Args[0] = "hyperpod"
	cmd.Env = append([]string{"HOME=" + w.home, "XDG_STATE_HOME=" + filepath.Join(w.home, "state"), "XDG_CACHE_HOME=" + filepath.Join(w.home, "cache"), "TZ=UTC", "LANG=C.UTF-8", "USER=ada",
		"PATH=" + os.Getenv("PATH"), "AWS_EC2_METADATA_DISABLED=true"}, w.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	if strings.Contains(stderr.String(), "Error: unknown ") || stdout.Len()+stderr.Len() == 0 {
		w.t.Errorf("%v says nothing: %s", args, stderr.String())
	}
	for _, place := range may { // the search would find them
		if !strings.Contains(stdout.String(), canaries[place]) {
			w.t.Errorf("hyperpod %s does not print the %s", strings.Join(args, " "), place)
		}
	}
	w.search("stdout of hyperpod "+strings.Join(args, " "), stdout.String(), may)
	w.search("stderr of hyperpod "+strings.Join(args, " "), stderr.String(), nil)
	return stderr.String()
}

// search reports the canaries in a text.
func (w *canaryWorld) search(where, text string, may []string) {
	w.t.Helper()
	for place, canary := range canaries {
		if slices.Contains(may, place) {
			continue
		}
		for _, form := range forms(canary) {
			if i := strings.Index(text, form); i >= 0 {
				w.t.Errorf("%s: the %s: ...%s", where, place, text[max(0, i-80):min(len(text), i+len(form)+20)])
				break
			}
		}
	}
}

// searchFiles searches everything that was written. given are the files that the test wrote.
func (w *canaryWorld) searchFiles(given ...string) {
	files := 0
	err := filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains(given, path) {
			return err
		}
		data, err := os.ReadFile(path)
		files++
		var may []string
		if filepath.Base(filepath.Dir(path)) == "tokens" {
			may = []string{"token that signs in to a cluster"} // what the cache is for
		}
		w.search(strings.TrimPrefix(path, w.home), string(data), may)
		return err
	})
	if err != nil || files < 5 {
		w.t.Errorf("%d files were written, %v", files, err)
	}
}

// TestCanaries: no secret that a command reads is in what the commands print or write: results, notes, errors, --debug,
// snapshots, caches, the history store, answers of the MCP server.
func TestCanaries(t *testing.T) {
	t.Parallel()
	home, outside := t.TempDir(), t.TempDir()
	box, err := sandbox.Create(context.Background(), filepath.Join(outside, "box"+sandbox.Extension), sandbox.DefaultScenario, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := map[string]bool{} // the canaries with which requests signed in
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		mu.Lock()
		seen[token] = true
		mu.Unlock()
		if token != canaries["token of the kubeconfig"] && token != canaries["token of a credential plugin"] {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		box.ServeHTTP(rw, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // processes end with open connections
	server.StartTLS()                                   // without TLS the client sends no token
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	defer server.Close()
	defer server.CloseClientConnections()
	account := fake.New(fake.Options{})
	end, err := fillAccount(outside, account, true)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	endpoint := httptest.NewServer(account)
	defer endpoint.Close()

	write := func(name, text string) string {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plugin := write("plugin", fmt.Sprintf("#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"%s\"}}'\n", canaries["token of a credential plugin"]))
	broken := write("broken", "#!/bin/sh\nexit 3\n")
	envFile := write("job.env", "API_KEY="+canaries["variable of a job, from a file"]+"\n")
	config := write("kubeconfig", strings.NewReplacer("@URL@", server.URL, "@CA@", ca, "@PLUGIN@", plugin, "@BROKEN@", broken, "@TOKEN@", canaries["token of the kubeconfig"],
		"@PASSWORD@", canaries["password of the kubeconfig"], "@PLUGINENV@", canaries["variable of a credential plugin"], "@PROXY@", canaries["password of a proxy"]).Replace(`apiVersion: v1
kind: Config
current-context: t
clusters:
- {name: t, cluster: {server: "@URL@", certificate-authority-data: "@CA@"}}
- {name: proxied, cluster: {server: "https://127.0.0.1:2", proxy-url: "http://ada:@PROXY@@127.0.0.1:1"}}
- {name: malformed, cluster: {server: "https://127.0.0.1:2", proxy-url: "http://ada:@PROXY@@ho st:1"}}
contexts:
- {name: t, context: {cluster: t, user: t, namespace: hyperpod-ns-researchers}}
- {name: plugin, context: {cluster: t, user: plugin, namespace: hyperpod-ns-researchers}}
- {name: broken, context: {cluster: t, user: broken, namespace: hyperpod-ns-researchers}}
- {name: password, context: {cluster: t, user: password, namespace: hyperpod-ns-researchers}}
- {name: proxied, context: {cluster: proxied, user: t, namespace: hyperpod-ns-researchers}}
- {name: malformed, context: {cluster: malformed, user: t, namespace: hyperpod-ns-researchers}}
users:
- {name: t, user: {token: "@TOKEN@"}}
- {name: password, user: {username: ada, password: "@PASSWORD@"}}
- {name: plugin, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "@PLUGIN@", interactiveMode: Never, env: [{name: SECRET, value: "@PLUGINENV@"}]}}}
- {name: broken, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "@BROKEN@", interactiveMode: Never, env: [{name: SECRET, value: "@PLUGINENV@"}]}}}
`))
	given := []string{plugin, broken, envFile, config}
	w := &canaryWorld{t: t, home: home, env: []string{"KUBECONFIG=" + config}}

	// Plant what is in the cluster.
	send := func(method, path, contentType, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://box"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", contentType)
		rec := httptest.NewRecorder()
		box.ServeHTTP(rec, r)
		if rec.Code/100 != 2 {
			t.Fatalf("%s %s: %d %s", method, path, rec.Code, rec.Body)
		}
	}
	send("POST", "/api/v1/namespaces/hyperpod-ns-researchers/secrets", "application/json",
		fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"wandb"},"data":{"KEY":%q}}`, base64.StdEncoding.EncodeToString([]byte(canaries["value of a Secret"]))))
	notices := w.run(nil, "start-job", "planted", "--template", "smpv2-llama2", "--environment", "DB_PASSWORD="+canaries["variable of a job"], "--env-file", envFile,
		"--environment-from-secret", "WANDB=wandb:KEY", "--script-args", "--token="+canaries["argument of a job"], "--wait=admitted", "--timeout", "0",
		"--notify-url", "http://127.0.0.1:1/hook/"+canaries["address of a notification"]+"?token="+canaries["address of a notification"], "--debug")
	if strings.Contains(notices, "Error: ") {
		t.Fatal(notices)
	}
	send("PATCH", "/apis/kubeflow.org/v1/namespaces/hyperpod-ns-researchers/pytorchjobs/planted", "application/merge-patch+json",
		fmt.Sprintf(`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{env: %s}"}}}`, canaries["last applied form of a job"]))

	// Results, notes and --debug.
	for _, line := range []string{
		"list-jobs -A -o json", "list-jobs -A -o wide", "list-jobs -A --verbose -o yaml", "get-job planted -o table", "explain-job planted -o json", "explain-job planted -o table",
		"list-pods planted -o json", "get-log planted --tail 2", "get-quota -o json", "get-queue -o json", "get-usage -A -o json", "wait-job planted --timeout 0", "doctor -o json",
		"governance export", "governance audit -o json", "governance rbac researchers", "simulate --remove-team interns -o json", "list-templates -o json", "get-template smpv2-llama2",
		"record --samples 1", "save-snapshot " + filepath.Join(home, "cluster.json"), "save-snapshot - -o json",
		"create-template mine --job planted --team", "create-template own --job planted", "start-job again --template smpv2-llama2 --dry-run -o json",
		"cancel-job planted --dry-run=server -o json", "exec planted -- hostname", "patch-job suspend planted", "patch-job unsuspend planted", "sandbox list", "config view", "report --since 24h",
	} {
		w.run(nil, append(strings.Fields(line), "--debug")...)
	}
	w.run(nil, "get-job", "planted", "-o", "json", "--debug")
	w.run(ofJob, "get-job", "planted", "--manifest", "--debug")
	// Errors.
	for _, line := range []string{
		"list-jobs --context plugin", "get-job nobody --context plugin", "list-jobs --context broken", "list-jobs --context password", "list-jobs --context proxied --request-timeout 1s",
		"list-jobs --context malformed", "start-job planted --template smpv2-llama2 --environment-from-secret X=nobody:KEY", "get-job nobody", "list-jobs --error-format json --context password",
	} {
		w.run(nil, append(strings.Fields(line), "--debug")...)
	}
	mu.Lock()
	for _, place := range []string{"token of the kubeconfig", "token of a credential plugin"} {
		if !seen[canaries[place]] {
			t.Errorf("no request had the %s", place)
		}
	}
	mu.Unlock()

	// AWS.
	for name, value := range awsEnv(endpoint.URL) {
		w.env = append(w.env, name+"="+value)
	}
	w.env[0] = "KUBECONFIG=" + filepath.Join(home, "written")
	signed := []string{"token that signs in to a cluster"}
	w.run(signed, "get-token", "ml-prod-eks", "--debug")
	for _, line := range []string{
		"connect-cluster ml-prod -n hyperpod-ns-researchers", "get-clusters -o json", "describe-cluster ml-prod -o json", "list-cluster-nodes ml-prod -o table", "list-cluster-events ml-prod",
		"update-cluster ml-prod --instance-group accelerated-p5 --count 4 --dry-run", "governance export --cluster-name ml-prod", "list-jobs -o json", "get-clusters --region us-nowhere",
		"start-session ml-prod i-0d64806b32c3ee282 --command hostname", "describe-cluster nobody",
	} {
		w.run(nil, append(strings.Fields(line), "--debug")...)
	}

	// The MCP server.
	session := connectMCP(t, home, nil, "--kubeconfig", config, "--context", "t")
	for tool, args := range map[string]map[string]any{"get_job": {"name": "planted"}, "list_jobs": {"all_namespaces": true}, "list_pods": {"name": "planted"}, "explain_job": {"name": "planted"},
		"get_log": {"name": "planted", "tail": 2}, "doctor": {}, "list_templates": {}} {
		r := callTool(t, session, tool, args)
		w.search("MCP's "+tool, texts(r), nil)
	}
	w.searchFiles(given...)
}
