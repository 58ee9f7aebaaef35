package fault_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// onStates are the commands on AWS with what else depends on a status.
var onStates = append([]string{
	"get-clusters -o table",
	"describe-cluster research",
	"list-cluster-nodes research -o table",
	"list-cluster-events ml-prod -o table",
	"create-cluster -f ../../examples/cluster.yaml --wait --timeout 0s",
	"update-cluster research --instance-group workers --count 4 --yes --wait --timeout 0s",
	"update-cluster research --node-recovery None --yes",
	"delete-cluster research --yes --wait --timeout 0s",
	"replace-cluster-nodes research --group workers --yes -o table",
	"delete-cluster-nodes research i-0bbbbbbbbbbbbbbb2 --yes -o table",
	"check-cluster-nodes research --group workers --yes -o table",
	"governance plan -f ../../examples/teams.yaml --cluster-name ml-prod -o table",
	"governance apply -f ../../examples/teams.yaml --cluster-name ml-prod --yes --backup none --timeout 2s",
}, onAWS...)

// change changes an answer of SageMaker, or makes it an error. n is how many requests of the operation came before.
type change func(operation string, n int, answer map[string]any) *fake.Error

// state is what AWS may answer and seldom does.
type state struct {
	name   string
	change change
	// same: the command prints what it prints without the state.
	same bool
}

// states are statuses that no version of this program knows, lists in odd pages, times beyond the calendar,
// credentials that end between two requests, and resources that others change meanwhile.
func states() []state {
	out := []state{
		{"the same token", pages(func(int) any { return "again" }), false},
		{"tokens in a circle", pages(func(n int) any { return fmt.Sprint(n % 3) }), false},
		{"an empty token", pages(func(int) any { return "" }), true},
		{"no token", pages(func(int) any { return nil }), true},
		{"a number as token", pages(func(int) any { return 1 }), false},
		{"an empty first page", func(operation string, n int, answer map[string]any) *fake.Error {
			if list := listed(operation, answer); list != "" && n == 0 {
				answer[list], answer["NextToken"] = []any{}, "more"
			}
			return nil
		}, true},
		{"two pages that are the same", func(operation string, n int, answer map[string]any) *fake.Error {
			if listed(operation, answer) != "" && n == 0 {
				answer["NextToken"] = "more"
			}
			return nil
		}, true},
		{"elements that are null", func(operation string, _ int, answer map[string]any) *fake.Error {
			if list := listed(operation, answer); list != "" {
				answer[list] = append(answer[list].([]any), nil)
			}
			return nil
		}, false},
		{"lists that are null", func(operation string, _ int, answer map[string]any) *fake.Error {
			if list := listed(operation, answer); list != "" {
				answer[list] = nil
			}
			return nil
		}, false},
		{"credentials that expire", fails(1, "", "ExpiredTokenException"), false},
		{"credentials that expire before a change", fails(0, "Update", "ExpiredToken"), false},
		{"resources that are gone meanwhile", fails(1, "Describe", "ResourceNotFound"), false},
		{"a deletion of what is gone", fails(0, "Delete", "ResourceNotFound"), false},
		{"a creation at the limit", fails(0, "Create", "ResourceLimitExceeded"), false},
		{"a creation of what exists", fails(0, "Create", "ResourceInUse"), false},
		{"throttling", fails(0, "", "ThrottlingException"), false},
	}
	for _, code := range []string{"ExpiredTokenException", "AccessDeniedException", "ThrottlingException", "ValidationException"} {
		out = append(out, state{"a second page that fails with " + code, fails(1, "List", code), false})
	}
	for _, operation := range []string{"Update", "Delete"} {
		out = append(out, state{operation + " with a conflict", fails(0, operation, "ConflictException"), false})
	}
	for member, values := range map[string][]any{
		"ClusterStatus": {"Creating", "Updating", "SystemUpdating", "RollingBack", "Deleting", "Failed", "Hibernating", ""},
		"Status": {"Creating", "Updating", "SystemUpdating", "Deleting", "Failed", "Degraded", "DeepHealthCheckInProgress", "Pending", "ShuttingDown", "Failure", "Napping",
			"CreateFailed", "CreateRollbackFailed", "UpdateRollbackFailed", "DeleteFailed", "DeleteRollbackFailed", "Created", "Deleted", ""},
		"NodeRecovery": {"Sometimes", "", nil}, "NodeProvisioningMode": {"Dreaming", ""}, "InstanceType": {"ml.q1.huge", "", nil}, "CurrentCount": {0, -1, 1e9},
		"EventTime": {-1, 1e300, nil}, "CreationTime": {-1, 4e10, 253402300800.0, 1e300, nil}, "LaunchTime": {4e10, -1e12, nil}, "InstanceId": {"", nil},
		"FailureMessage": {strings.Repeat("long ", 4000), "\x1b[31mred\u202e"}, "InstanceGroupName": {strings.Repeat("g", 63), ""},
	} {
		for _, value := range values {
			out = append(out, state{fmt.Sprintf("%s %.20v", member, value), func(_ string, _ int, answer map[string]any) *fake.Error {
				replace(answer, member, value)
				return nil
			}, false})
		}
	}
	return out
}

// replace gives all members of a name another value, except for those that are objects.
func replace(in any, name string, value any) {
	switch in := in.(type) {
	case map[string]any:
		for member, v := range in {
			if _, isObject := v.(map[string]any); member == name && !isObject {
				in[member] = value
			} else {
				replace(v, name, value)
			}
		}
	case []any:
		for _, v := range in {
			replace(v, name, value)
		}
	}
}

// listed returns the member of an answer that is its list, "" if it has none.
func listed(operation string, answer map[string]any) string {
	for member, v := range answer {
		if _, ok := v.([]any); ok && strings.HasPrefix(operation, "List") {
			return member
		}
	}
	return ""
}

// pages gives lists other tokens.
func pages(token func(n int) any) change {
	return func(operation string, n int, answer map[string]any) *fake.Error {
		if listed(operation, answer) != "" {
			answer["NextToken"] = token(n)
		}
		return nil
	}
}

// fails makes operations fail after their first n requests; lists have a further page then.
func fails(n int, prefix, code string) change {
	return func(operation string, i int, answer map[string]any) *fake.Error {
		switch {
		case i >= n && strings.HasPrefix(operation, prefix):
			return &fake.Error{Status: http.StatusBadRequest, Code: code, Message: "the fake says no"}
		case i < n && listed(operation, answer) != "":
			answer["NextToken"] = "more"
		}
		return nil
	}
}

// changed answers like the fake, with a change. It keeps the tokens of lists for itself.
type changed struct {
	fake   http.Handler
	change change

	mu    sync.Mutex
	count map[string]int
}

func (c *changed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, operation, isSageMaker := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	body, _ := io.ReadAll(r.Body)
	var request, answer map[string]any
	if isSageMaker && json.Unmarshal(body, &request) == nil && request["NextToken"] != nil {
		delete(request, "NextToken")
		body, _ = json.Marshal(request)
	}
	inner := r.Clone(r.Context())
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	made := httptest.NewRecorder()
	c.fake.ServeHTTP(made, inner)
	if isSageMaker && made.Code == http.StatusOK && json.Unmarshal(made.Body.Bytes(), &answer) == nil {
		c.mu.Lock()
		failure := c.change(operation, c.count[operation], answer)
		c.count[operation]++
		c.mu.Unlock()
		if failure != nil {
			w.WriteHeader(failure.Status)
			answer = map[string]any{"__type": failure.Code, "message": failure.Message}
		}
		_ = json.NewEncoder(w).Encode(answer)
		return
	}
	for name, values := range made.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(made.Code)
	_, _ = w.Write(made.Body.Bytes())
}

// TestAWSStates runs every command on AWS with every state.
func TestAWSStates(t *testing.T) {
	runs := 0
	for _, s := range states() {
		for _, line := range onStates {
			name := s.name + ", " + line
			if !chosen(name, 20) {
				continue
			}
			runs++
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				stdout, stderr := runState(t, line, s.change)
				if !s.same {
					return
				}
				want, wantErr := runState(t, line, func(string, int, map[string]any) *fake.Error { return nil })
				if stdout != want || stderr != wantErr {
					t.Errorf("without the state: %.1500s\n%.1500s\nwith it: %.1500s\n%.1500s", want, wantErr, stdout, stderr)
				}
			})
		}
	}
	fmt.Printf("states of AWS: %d runs of %d commands in %d states\n", runs, len(onStates), len(states()))
}

// runState runs a command with a change of what AWS answers, and returns what it prints.
func runState(t *testing.T, line string, change change) (string, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := account()
	for _, team := range []string{"interns", "researchers"} {
		if failure := s.Do("CreateComputeQuota", fmt.Sprintf(`{"Name":%q,"ClusterArn":%q,"ComputeQuotaConfig":{"ComputeQuotaResources":[{"InstanceType":"ml.g5.12xlarge","Count":1}]},
			"ComputeQuotaTarget":{"TeamName":%q}}`, team, s.ClusterARN("ml-prod"), team)); failure != nil {
			t.Fatal(failure)
		}
	}
	server := httptest.NewServer(&changed{fake: s, change: change, count: map[string]int{}})
	defer server.Close()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	args := append(strings.Fields(strings.ReplaceAll(line, "$DIR", dir)), "--request-timeout=2s")
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append([]string{asHyperpod + "=" + filepath.Join(dir, "status"), "HOME=" + dir, "KUBECONFIG=" + filepath.Join(dir, "kubeconfig"),
		"TZ=UTC", "USER=ada", "PATH=" + os.Getenv("PATH"), "AWS_EC2_METADATA_DISABLED=true"}, credentials(server.URL)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	report := func(format string, a ...any) {
		t.Helper()
		t.Errorf(format+"\nstdout: %.400s\nstderr: %.1500s", append(a, stdout.String(), stderr.String())...)
	}
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	code := cmd.ProcessState.ExitCode()
	if !slices.Contains(codes, code) {
		report("exit code %d", code)
	}
	if slices.Contains([]int{1, 4, 5, 124}, code) && !strings.Contains(stderr.String(), "Error: ") {
		report("exit code %d without an error", code)
	}
	if strings.Contains(line, "-o json") && stdout.Len() > 0 && !json.Valid(stdout.Bytes()) {
		report("stdout is half a document")
	}
	for _, bad := range []string{"\x1b", "\u202e", `\n`, "year outside of range"} {
		if strings.Contains(stderr.String(), bad) || strings.Contains(line, "-o table") && strings.Contains(stdout.String(), bad) {
			report("it printed %q", bad)
		}
	}
	reportCrash(stderr.String(), report)
	reportLeftovers(t, dir, report)
	return stdout.String(), stderr.String()
}
