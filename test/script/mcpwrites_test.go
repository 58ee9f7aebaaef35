package script

import (
	"regexp"
	"strings"
	"testing"
)

// TestMCPWrites: a write is previewed, and made only with the token of the preview, once, and
// with the same arguments.
func TestMCPWrites(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := connectMCP(t, home, nil, "--sandbox", "--allow", "start,cancel,patch")
	args := map[string]any{"name": "x", "namespace": "hyperpod-ns-researchers", "template": "smpv2-llama2", "node_count": 1, "priority": "training"}
	with := func(more ...any) map[string]any {
		out := map[string]any{}
		for k, v := range args {
			out[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			out[more[i].(string)] = more[i+1]
		}
		return out
	}
	exists := func() bool {
		_, err := run(t, home, "get-job", "x", "-n", "hyperpod-ns-researchers", "--sandbox", "-o", "json")
		return err == nil
	}
	token := regexp.MustCompile(`token ([A-Z2-7]+)\.`)
	preview := texts(callTool(t, s, "start_job", args))
	m := token.FindStringSubmatch(preview)
	if m == nil || exists() || !strings.Contains(preview, "Nothing has changed") || !strings.Contains(preview, "hyperpod.admission-check/v1") {
		t.Fatal(preview)
	}
	if r := callTool(t, s, "start_job", with("token", "AAAA")); !r.IsError || exists() {
		t.Error("a made-up token starts the job")
	}
	if r := callTool(t, s, "start_job", with("token", m[1], "node_count", 2)); !r.IsError || exists() {
		t.Error("a token confirms other arguments")
	}
	m = token.FindStringSubmatch(texts(callTool(t, s, "start_job", args)))
	if r := callTool(t, s, "start_job", with("token", m[1])); r.IsError || !exists() {
		t.Fatal(texts(r))
	}
	if r := callTool(t, s, "start_job", with("token", m[1])); !r.IsError {
		t.Error("a token is good twice")
	}
	job := map[string]any{"name": "x", "namespace": "hyperpod-ns-researchers"}
	for _, tool := range []string{"suspend_job", "unsuspend_job", "set_job_priority", "cancel_job"} {
		one := map[string]any{"name": job["name"], "namespace": job["namespace"]}
		if tool == "set_job_priority" {
			one["priority"] = "inference"
		}
		first := callTool(t, s, tool, one)
		m := token.FindStringSubmatch(texts(first))
		if first.IsError || m == nil || !exists() {
			t.Fatalf("%s: %s", tool, texts(first))
		}
		one["token"] = m[1]
		if r := callTool(t, s, tool, one); r.IsError {
			t.Errorf("%s: %s", tool, texts(r))
		}
	}
	if exists() {
		t.Error("the job was not cancelled")
	}
}

// TestMCPAnotherJob: a token does not confirm a write to another job that got the name of the previewed one.
func TestMCPAnotherJob(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	command := func(args ...string) {
		t.Helper()
		if out, err := run(t, home, append(args, "-n", "hyperpod-ns-researchers", "--sandbox")...); err != nil {
			t.Fatal(err, out)
		}
	}
	start := func() { command("start-job", "x", "--template", "smpv2-llama2", "--node-count", "1") }
	start()
	s := connectMCP(t, home, nil, "--sandbox", "--allow", "cancel,patch")
	token := regexp.MustCompile(`token ([A-Z2-7]+)\.`)
	for _, tool := range []string{"suspend_job", "cancel_job"} {
		job := map[string]any{"name": "x", "namespace": "hyperpod-ns-researchers"}
		m := token.FindStringSubmatch(texts(callTool(t, s, tool, job)))
		if m == nil {
			t.Fatal(tool)
		}
		command("cancel-job", "x", "--yes", "--wait")
		start()
		job["token"] = m[1]
		if r := callTool(t, s, tool, job); !r.IsError || !strings.Contains(texts(r), "another one has its name") {
			t.Errorf("%s: %s", tool, texts(r))
		}
		command("get-job", "x")
	}
}
