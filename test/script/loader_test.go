package script

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// TestALoaderThatDoesNotStart: a start with --upload-pvc whose loader does not run ends with the reason, creates no job,
// and leaves no loader behind.
func TestALoaderThatDoesNotStart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	t.Parallel()
	const ns = "hyperpod-ns-researchers"
	home := t.TempDir()
	box, err := sandbox.Create(context.Background(), filepath.Join(home, "box"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	open := httptest.NewServer(box)
	defer open.Close()
	gate := &authorizer{next: box}
	server := httptest.NewServer(gate)
	defer server.Close()
	config := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(config, fmt.Appendf(nil, kubeconfig, server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	code := filepath.Join(home, "code")
	if err := os.Mkdir(code, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(code, "a.py"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	send := func(method, path, kind, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, open.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode/100 != 2 {
			t.Fatalf("%s %s: %s", method, path, answer.Status)
		}
	}
	for name, mode := range map[string]string{"shared": "ReadWriteMany", "once": "ReadWriteOnce", "data": "ReadOnlyMany"} {
		send(http.MethodPost, "/api/v1/namespaces/"+ns+"/persistentvolumeclaims", "application/json",
			fmt.Sprintf(`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":%q},"spec":{"accessModes":[%q],"resources":{"requests":{"storage":"1Gi"}}}}`, name, mode))
	}
	hold := func(policy string) {
		t.Helper()
		send(http.MethodPatch, "/apis/kueue.x-k8s.io/v1beta2/namespaces/"+ns+"/localqueues/"+ns+"-localqueue", "application/merge-patch+json", `{"spec":{"stopPolicy":"`+policy+`"}}`)
	}
	reads := append(memberRights(), right{"get", "", "persistentvolumeclaims"})
	for _, c := range []struct {
		name, claim string
		rights      []right
		without     string // a permission
		hold        bool
		args        string
		interrupt   string // Ctrl-C comes after this text
		code        int
		want        []string
		not         string
	}{
		{name: "a claim that nobody has", claim: "nowhere", rights: reads, code: 5, want: []string{`persistentvolumeclaim "nowhere" not found in namespace ` + ns}, not: "uploading"},
		{name: "the same, for a member who may not read claims", claim: "nowhere", rights: memberRights(), code: 5,
			want: []string{`cannot upload ` + code + ` to claim nowhere: persistentvolumeclaim "nowhere" not found in namespace ` + ns, "note:    the job was not created"}, not: "try:"},
		{name: "no permission to run commands in pods", claim: "shared", rights: reads, without: "create pods/exec", code: 4, want: []string{"you have no permission to create pods/exec in " + ns}, not: "upload needs a job"},
		{name: "no permission to create jobs of this kind", claim: "shared", rights: reads, without: "create jobs", code: 4, want: []string{"you have no permission to create job in " + ns}, not: "upload needs a job"},
		{name: "a claim that cannot be written", claim: "data", rights: reads, code: 1, want: []string{"cannot upload " + code + " to claim data: it is ReadOnlyMany"}, not: "uploading"},
		{name: "a queue that is stopped", claim: "shared", rights: reads, hold: true, args: "--timeout 1s", code: 124, want: []string{"uploading through job", "is not admitted after 1s", "the job was not created"}, not: "try:  hyperpod explain"},
		{name: "an interrupt while it waits for quota", claim: "shared", rights: reads, hold: true, interrupt: "uploading through job", code: 130, want: []string{"interrupted"}},
		{name: "a dry run of pods on several nodes", claim: "once", rights: reads, args: "--node-count 2 --dry-run", code: -1, want: []string{"warning: claim once is ReadWriteOnce: of the 2 pods, those on one node can mount it, the others wait"}},
	} {
		gate.set(slices.DeleteFunc(slices.Clone(c.rights), func(r right) bool { return r.String() == c.without }))
		if c.hold {
			hold("Hold")
		}
		line := append([]string{"hyperpod", "-n", ns, "start-job", "--name", "x", "--image", "example.com/i:1", "--instance-type", "ml.p5.48xlarge", "--accelerators", "1", "--command", "python",
			"--entry-script", "a.py", "--upload", code, "--upload-pvc", c.claim}, strings.Fields(c.args)...)
		cmd := command(t, line, []string{"KUBECONFIG=" + config})
		var said locked
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if c.interrupt != "" {
			for end := time.Now().Add(time.Minute); !strings.Contains(said.String(), c.interrupt) && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			}
			_ = cmd.Process.Signal(os.Interrupt)
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); c.code >= 0 && got != c.code {
			t.Errorf("%s: exit code %d, want %d", c.name, got, c.code)
		}
		for _, want := range c.want {
			if !strings.Contains(said.String(), want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, said.String())
			}
		}
		if c.not != "" && strings.Contains(said.String(), c.not) {
			t.Errorf("%s: %q in\n%s", c.name, c.not, said.String())
		}
		if c.hold {
			hold("None")
		}
		gate.set(memberRights())
		out, err := command(t, []string{"hyperpod", "list-jobs", "-n", ns, "-o", "name"}, []string{"KUBECONFIG=" + config}).Output()
		if err != nil || strings.Contains(string(out), "/x") {
			t.Errorf("%s: %s, %v", c.name, out, err)
		}
	}
}
