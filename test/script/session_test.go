package script

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// plugin stands in for session-manager-plugin: it writes down its arguments and the
// variable, and ends with code 3.
const plugin = `#!/bin/sh
if [ "$1" = --version ]; then echo "$PLUGIN_VERSION"; exit; fi
for a in "$@"; do printf '%s\n' "$a"; done > "$PLUGIN_OUT"
printf '%s\n' "$AWS_SSM_START_SESSION_RESPONSE" >> "$PLUGIN_OUT"
exit 3
`

// TestSession: start-session gives session-manager-plugin what the AWS CLI gives it. Where
// the AWS CLI is not installed, only our own arguments are checked.
func TestSession(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	s := fake.New(fake.Options{})
	if end, err := fillAccount(t.TempDir(), s, true); err != nil {
		t.Fatal(err)
	} else {
		t.Cleanup(end)
	}
	endpoint := httptest.NewServer(s)
	t.Cleanup(endpoint.Close)
	home := t.TempDir()
	bin := filepath.Join(home, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "session-manager-plugin"), []byte(plugin), 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	aws, _ := exec.LookPath("aws")
	// given runs a program and returns what the plugin was given: arguments and variable.
	given := func(version, program, name string, args ...string) []string {
		t.Helper()
		out := filepath.Join(t.TempDir(), "out")
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Args[0] = name
		cmd.Env = []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "PLUGIN_OUT=" + out, "PLUGIN_VERSION=" + version, "AWS_MAX_ATTEMPTS=1", "AWS_DEFAULT_REGION=us-west-2"}
		for n, v := range awsEnv(endpoint.URL) {
			cmd.Env = append(cmd.Env, n+"="+v)
		}
		text, err := cmd.CombinedOutput()
		data, readErr := os.ReadFile(out)
		if readErr != nil {
			t.Fatalf("%s %v: the plugin did not run: %v\n%s", name, args, err, text)
		}
		if name == "hyperpod" && cmd.ProcessState.ExitCode() != 3 {
			t.Errorf("%v: exit code %d\n%s", args, cmd.ProcessState.ExitCode(), text)
		}
		return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
	target := "sagemaker-cluster:" + s.ClusterID("ml-dev") + "_workers-i-0aaaaaaaaaaaaaaa1"
	// Without the plugin no session is opened.
	cmd := exec.CommandContext(t.Context(), self, "start-session", "ml-dev", "i-0aaaaaaaaaaaaaaa1")
	cmd.Args[0], cmd.Env = "hyperpod", []string{"HOME=" + home, "PATH=" + t.TempDir(), "AWS_ENDPOINT_URL=" + endpoint.URL}
	if text, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(text), "session-manager-plugin is not on the PATH") || len(s.Calls()) > 0 {
		t.Errorf("%v %v: %s", err, s.Calls(), text)
	}
	for _, tt := range []struct {
		version, ours, theirs string
		request               string
	}{
		{"1.2.707.0", "start-session ml-dev i-0aaaaaaaaaaaaaaa1", "", `{"Target":"` + target + `"}`},
		{"1.2.100.0", "start-session i-0aaaaaaaaaaaaaaa1", "", `{"Target":"` + target + `"}`},
		{"1.2.707.0", "start-session ml-dev --group workers --command hostname", "--document-name AWS-StartNonInteractiveCommand --parameters command=hostname",
			`{"DocumentName":"AWS-StartNonInteractiveCommand","Parameters":{"command":["hostname"]},"Target":"` + target + `"}`},
		{"1.2.707.0", "start-session i-0aaaaaaaaaaaaaaa1 --ssh-proxy --port 2222", "--document-name AWS-StartSSHSession --parameters portNumber=2222",
			`{"DocumentName":"AWS-StartSSHSession","Parameters":{"portNumber":["2222"]},"Target":"` + target + `"}`},
		{"1.2.707.0", "start-session ml-dev i-0aaaaaaaaaaaaaaa1 --forward 80:db:90", "--document-name AWS-StartPortForwardingSessionToRemoteHost --parameters localPortNumber=80,host=db,portNumber=90",
			`{"DocumentName":"AWS-StartPortForwardingSessionToRemoteHost","Parameters":{"host":["db"],"localPortNumber":["80"],"portNumber":["90"]},"Target":"` + target + `"}`},
	} {
		ours := given(tt.version, self, "hyperpod", strings.Fields(tt.ours)...)
		if len(ours) != 7 || !same(ours[4], tt.request) {
			t.Fatalf("%s: %q", tt.ours, ours)
		}
		if strings.Contains(ours[0], "TokenValue") == (tt.version == "1.2.707.0") {
			t.Errorf("%s: the token with version %s: %q", tt.ours, tt.version, ours[0])
		}
		if aws == "" {
			t.Log("the AWS CLI is not installed")
			continue
		}
		theirs := given(tt.version, aws, "aws", slices.Concat([]string{"ssm", "start-session", "--target", target}, strings.Fields(tt.theirs))...)
		for i := range theirs {
			if i >= len(ours) || !same(ours[i], theirs[i]) {
				t.Errorf("%s: argument %d is %q, the AWS CLI gives %q", tt.ours, i, ours[min(i, len(ours)-1)], theirs[i])
			}
		}
	}
}

// same compares texts, and JSON by its value. The ids of sessions differ.
func same(a, b string) bool {
	var x, y map[string]any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	for _, m := range []map[string]any{x, y} {
		if _, ok := m["SessionId"]; ok {
			m["SessionId"], m["StreamUrl"] = "", ""
		}
	}
	return reflect.DeepEqual(x, y)
}
