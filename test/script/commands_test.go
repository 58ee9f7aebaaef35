package script

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
	"github.com/hyperpod-cli/hyperpod/test/fault"
	judge "github.com/hyperpod-cli/hyperpod/test/slurm"
)

// commands are what scripts can do beside running programs.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){
		// apiserver SCENARIO [FAULT...]: a cluster over HTTP with faults, as $KUBECONFIG.
		"apiserver": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) == 0 {
				ts.Fatalf("usage: apiserver SCENARIO [FAULT...]")
			}
			server(ts).proxy = startServer(ts, args[0], args[1:])
		},
		// member SCENARIO FAULTS [FAULT...]: apiserver with a list of faults, separated by
		// spaces, and more.
		"member": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < 2 {
				ts.Fatalf("usage: member SCENARIO FAULTS [FAULT...]")
			}
			server(ts).proxy = startServer(ts, args[0], append(strings.Fields(args[1]), args[2:]...))
		},
		// requests N: how many requests the apiserver has had.
		"requests": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 1 || server(ts).proxy == nil {
				ts.Fatalf("usage: requests N, after apiserver")
			}
			want, err := strconv.Atoi(args[0])
			ts.Check(err)
			if got := server(ts).proxy.Requests(); len(got) != want {
				ts.Fatalf("%d requests, want %d:\n%s", len(got), want, strings.Join(got, "\n"))
			}
		},
		// requested [N METHOD PATH]: waits until the apiserver has had a request, or N with
		// the end of a path.
		"requested": func(ts *testscript.TestScript, _ bool, args []string) {
			if !server(ts).proxy.Await(time.Now().Add(20 * time.Second)) {
				ts.Fatalf("no request came")
			}
			if len(args) != 3 {
				return
			}
			want, err := strconv.Atoi(args[0])
			ts.Check(err)
			await(ts, func() bool {
				n := 0
				for _, r := range server(ts).proxy.Requests() {
					if strings.HasPrefix(r, args[1]+" ") && strings.HasSuffix(r, args[2]) {
						n++
					}
				}
				return n >= want
			}, func() string {
				return fmt.Sprintf("no %s requests: %s", args[0], strings.Join(server(ts).proxy.Requests(), "\n"))
			})
		},
		"aws":          startAWS,
		"awscalls":     awsCalls,
		"documented":   documented,
		"shown":        shown,
		"helpexamples": helpExamples,
		// examples: the repository's folder of that name, as a reader has it.
		"examples": func(ts *testscript.TestScript, _ bool, _ []string) {
			ts.Check(os.CopyFS(ts.MkAbs("examples"), os.DirFS(filepath.Join("..", "..", "examples"))))
		},
		// exitcode N COMMAND...: runs a command and compares its exit code.
		"exitcode": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < 2 {
				ts.Fatalf("usage: exitcode N COMMAND [ARG...]")
			}
			got := exitCode(ts, ts.Exec(args[1], args[2:]...))
			if want := args[0]; strconv.Itoa(got) != want {
				ts.Fatalf("exit code %d, want %s", got, want)
			}
		},
	}
	maps.Copy(all, forwardCommands())
	maps.Copy(all, hookCommands())
	maps.Copy(all, governedCommands())
	maps.Copy(all, slurmCommands())
	return all
}

// holder keeps a script's apiserver and AWS account; scripts run side by side.
type holder struct {
	proxy *fault.Proxy
	aws   *fake.Server
	// forward is the latest port-forward.
	forward *forwarding
	slurm   *judge.Cluster
	// hook is the latest webhook.
	hook *hook
}

type holderKey struct{}

func server(ts *testscript.TestScript) *holder { return ts.Value(holderKey{}).(*holder) }

const kubeconfig = `apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: %q}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
users: [{name: test, user: {}}]
`

func startServer(ts *testscript.TestScript, scenario string, faults []string) *fault.Proxy {
	dir, err := os.MkdirTemp(ts.Getenv("WORK"), "apiserver-")
	ts.Check(err)
	box, err := sandbox.Create(context.Background(), filepath.Join(dir, "box"+sandbox.Extension), scenario, sandbox.Options{})
	ts.Check(err)
	var rules []fault.Rule
	for _, f := range faults {
		rules = append(rules, parseFault(ts, f))
	}
	proxy := fault.New(box, rules...)
	server := httptest.NewUnstartedServer(proxy)
	server.Config.ErrorLog = nil
	server.Start()
	ts.Defer(func() {
		server.CloseClientConnections()
		server.Close()
	})
	path := filepath.Join(dir, "kubeconfig")
	ts.Check(os.WriteFile(path, fmt.Appendf(nil, kubeconfig, server.URL), 0o600))
	ts.Setenv("KUBECONFIG", path)
	return proxy
}

// parseFault reads "METHOD,PATH,WHAT[,TIMES[,SKIP]]"; WHAT is a status code,
// "429:SECONDS", cut:BYTES, lose, drop or hang. A PATH is the beginning of one, or
// with a star before it the end.
func parseFault(ts *testscript.TestScript, s string) fault.Rule {
	parts := strings.Split(s, ",")
	if len(parts) < 3 {
		ts.Fatalf("bad fault %q", s)
	}
	r := fault.Rule{Method: parts[0], Prefix: parts[1]}
	if end, ok := strings.CutPrefix(parts[1], "*"); ok {
		r.Prefix, r.Suffix = "", end
	}
	switch what, after, _ := strings.Cut(parts[2], ":"); what {
	case "cut":
		n, err := strconv.Atoi(after)
		ts.Check(err)
		r.Cut = n
	case "lose":
		r.Lose = true
	case "drop":
		r.Drop = true
	case "hang":
		r.Hang = true
	default:
		code, err := strconv.Atoi(what)
		if err != nil || http.StatusText(code) == "" {
			ts.Fatalf("bad fault %q", s)
		}
		r.Status = code
		r.RetryAfter, _ = strconv.Atoi(after)
	}
	if len(parts) > 3 {
		n, err := strconv.Atoi(parts[3])
		ts.Check(err)
		r.Times = n
	}
	if len(parts) > 4 {
		n, err := strconv.Atoi(parts[4])
		ts.Check(err)
		r.Skip = n
	}
	if r.Method == "*" {
		r.Method = ""
	}
	return r
}
