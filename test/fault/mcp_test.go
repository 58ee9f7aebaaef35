package fault_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hyperpod-cli/hyperpod/internal/cli/mcpcmd"
	"github.com/hyperpod-cli/hyperpod/test/fault"
)

// tools are calls of the tools of the MCP server.
var tools = []string{
	`list_jobs {"all_namespaces":true}`,
	`get_job {"name":"vit-huge","namespace":"hyperpod-ns-researchers"}`,
	`wait_job {"name":"vit-huge","namespace":"hyperpod-ns-researchers","for":"running","timeout_seconds":5}`,
	`explain_job {"name":"dino-giant","namespace":"hyperpod-ns-researchers"}`,
	`list_pods {"name":"vit-huge","namespace":"hyperpod-ns-researchers"}`,
	`get_log {"name":"vit-huge","namespace":"hyperpod-ns-researchers","tail":2}`,
	`dry_run_job {"name":"new","namespace":"hyperpod-ns-interns","template":"smpv2-llama2"}`,
	`get_quota {"team":"researchers"}`,
	`get_capacity {}`,
	`get_queue {}`,
	`get_usage {"all_namespaces":true}`,
	`simulate {"remove_team":["interns"]}`,
	`governance_plan {"governance":"$TEAMS"}`,
	`governance_check {"governance":"$TEAMS"}`,
	`governance_audit {}`,
	`governance_export {}`,
	`governance_rbac {"team":"interns"}`,
	`report {"since":"7d","namespace":"hyperpod-ns-researchers"}`,
	`list_templates {"namespace":"hyperpod-ns-interns"}`,
	`get_template {"name":"team/mine","namespace":"hyperpod-ns-interns"}`,
	`validate_template {"template":"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"}`,
	`list_instance_types {"in_cluster":true}`,
	`doctor {"namespace":"hyperpod-ns-researchers"}`,
	`start_job {"name":"new","namespace":"hyperpod-ns-interns","template":"smpv2-llama2"}`,
	`cancel_job {"name":"vit-huge","namespace":"hyperpod-ns-researchers"}`,
	`suspend_job {"name":"vit-huge","namespace":"hyperpod-ns-researchers"}`,
	`unsuspend_job {"name":"vit-huge","namespace":"hyperpod-ns-researchers"}`,
	`set_job_priority {"name":"dino-giant","namespace":"hyperpod-ns-researchers","priority":"training"}`,
}

// accountTools call the commands for clusters, whose faults are those of TestAWS.
var accountTools = []string{"get_clusters", "describe_cluster", "list_cluster_nodes", "list_cluster_events"}

// TestEveryTool: the list of calls has every tool.
func TestEveryTool(t *testing.T) {
	var called []string
	for _, line := range tools {
		name, _, _ := strings.Cut(line, " ")
		called = append(called, name)
	}
	for name := range mcpcmd.Flags() {
		if !slices.Contains(called, name) && !slices.Contains(accountTools, name) {
			t.Errorf("no call of %s", name)
		}
	}
}

// TestMCP calls every tool of the MCP server behind every fault. Each call has an answer in time: a whole document, or
// an error of the command. A tool that writes is called for a preview, and again with its token. The server then ends with
// its input.
func TestMCP(t *testing.T) {
	file := enterprise(t)
	teams, err := os.ReadFile("../../examples/teams.yaml")
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(string(teams))
	if err != nil {
		t.Fatal(err)
	}
	matrix{title: "faults of mcp", prefix: "mcp: ", lines: tools, oneOf: 24,
		each: func(t *testing.T, line string, kind string, seed uint64) (int, *fault.ChaosProxy) {
			chaos := fault.NewChaos(open(t, file), kind, seed)
			name, arguments, _ := strings.Cut(strings.ReplaceAll(line, `"$TEAMS"`, string(quoted)), " ")
			return tool(t, chaos, name, arguments), chaos
		}}.run(t)
}

// token is in the answer of a preview.
var token = regexp.MustCompile(`and token ([A-Z0-9]+)\.`)

// tool calls a tool behind a fault. It returns the exit code of the command behind the tool, as far as the answer has it.
func tool(t *testing.T, chaos *fault.ChaosProxy, name, arguments string) int {
	_, dir, environment := serve(t, chaos)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "mcp", "--request-timeout=2s", "--allow", "start,cancel,patch")
	cmd.Env = environment
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, outOfCommand := io.Pipe() // with StdoutPipe, Wait would close what the client still reads
	cmd.Stdout = outOfCommand
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	report := func(format string, a ...any) {
		t.Helper()
		t.Errorf(format+"\nrequests that it struck: %v\nstderr: %.1500s", append(a, chaos.Hits(), stderr.String())...)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &mcp.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var given map[string]any
	if err := json.Unmarshal([]byte(arguments), &given); err != nil {
		t.Fatal(err)
	}
	answer, code := call(ctx, session, name, given, report)
	confirmed := false
	if m := token.FindStringSubmatch(answer); m != nil {
		confirmed = true
		given["token"] = m[1]
		answer, code = call(ctx, session, name, given, report)
	}
	_ = in.Close()
	err = cmd.Wait()
	_ = outOfCommand.Close()
	_ = session.Close()
	if ctx.Err() != nil {
		report("it did not end in %s", 2*deadline)
		return -1
	}
	if err != nil || stderr.Len() > 0 {
		report("the server ended with %v", err)
	}
	reportLeftovers(t, dir, report)
	created, removed := chaos.Count("POST", "/pytorchjobs"), chaos.Count("DELETE", "/pytorchjobs/new")
	switch {
	case created > 1 || created > 0 && !confirmed:
		report("%d jobs were created, confirmed: %v", created, confirmed)
	case name == "start_job" && confirmed && code == 0 && created-removed != 1:
		report("success, and %d jobs were created", created)
	case code != 0 && created-removed > 0 && !strings.Contains(answer, "cannot tell whether"):
		report("a job was created, and the error does not report it: %s", answer)
	}
	if !confirmed && chaos.Count("DELETE", "")+chaos.Count("PATCH", "")+chaos.Count("PUT", "") > 0 {
		report("a preview changed something")
	}
	return code
}

var exitCode = regexp.MustCompile(`"ExitCode": ?(\d+)|^Exit code (\d+):`)

// call calls a tool and checks its answer. It returns the texts of the answer and the exit code in it.
func call(ctx context.Context, session *mcp.ClientSession, name string, arguments map[string]any, report func(string, ...any)) (string, int) {
	inTime, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	r, err := session.CallTool(inTime, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		report("%s: %v", name, err)
		return "", -1
	}
	var texts []string
	code := 0
	for _, c := range r.Content {
		c, ok := c.(*mcp.TextContent)
		if !ok || c.Text == "" {
			report("%s: an empty text in %v", name, r.Content)
			continue
		}
		texts = append(texts, c.Text)
		if m := exitCode.FindStringSubmatch(c.Text); m != nil && code == 0 {
			_ = json.Unmarshal([]byte(m[1]+m[2]), &code)
		}
	}
	all := strings.Join(texts, "\n")
	reportCrash(all, report)
	last := texts[len(texts)-1]
	switch {
	case r.IsError && (code == 0 || !slices.Contains(codes, code)):
		report("%s: an error without an exit code of the contract: %s", name, all)
	case r.IsError && !strings.Contains(all, `"Message"`):
		report("%s: an error without a message: %s", name, all)
	case !r.IsError && strings.HasPrefix(last, "{"):
		for d := json.NewDecoder(strings.NewReader(last)); ; {
			var v any
			if err := d.Decode(&v); err == io.EOF {
				break
			} else if err != nil {
				report("%s: the answer is half a document: %v", name, err)
				break
			}
		}
	}
	return all, code
}
