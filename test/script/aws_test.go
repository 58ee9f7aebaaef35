package script

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// startAWS is the command aws [WORD...]: an account with four clusters, as
// $AWS_ENDPOINT_URL. Words change it:
//
//	OPERATION=CODE[,TIMES]  the operation fails
//	no-access               the API server does not know the caller
//	empty                   there are no clusters
//	no-capacity             clusters that are created fail
//	odd                     a cluster has statuses that no version of this program knows
//	slurm                   there is one more cluster with Slurm, ml-slurm
func startAWS(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: aws [WORD...]")
	}
	s := fake.New(fake.Options{})
	access, empty, odd := true, false, false
	for _, a := range args {
		switch operation, fault, ok := strings.Cut(a, "="); {
		case a == "slurm":
			s.AddCluster(fake.Spec{Name: "ml-slurm", Groups: []fake.GroupSpec{{Name: "controller", InstanceType: "ml.m5.xlarge", Nodes: []fake.NodeSpec{{ID: "i-0dddddddddddddddd"}}}}})
		case a == "no-access":
			access = false
		case a == "empty":
			empty = true
		case a == "no-capacity":
			s.NoCapacity()
		case a == "odd":
			odd = true
		case ok:
			code, times, _ := strings.Cut(fault, ",")
			n, _ := strconv.Atoi(times)
			s.Fail(fake.Fault{Operation: operation, Status: 400, Code: code, Message: "the fake says no", Times: n})
		default:
			ts.Fatalf("aws: unknown word %q", a)
		}
	}
	if !empty {
		end, err := fillAccount(ts.Getenv("WORK"), s, access)
		ts.Check(err)
		ts.Defer(end)
	}
	if odd {
		s.AddCluster(fake.Spec{Name: "odd", Status: "Hibernating", Groups: []fake.GroupSpec{{Name: "workers", InstanceType: "ml.q1.huge", Nodes: []fake.NodeSpec{{ID: "i-0ccccccccccccccc1", Status: "Napping"}}}}})
	}
	endpoint := httptest.NewServer(s)
	ts.Defer(endpoint.Close)
	server(ts).aws = s
	for name, value := range awsEnv(endpoint.URL) {
		ts.Setenv(name, value)
	}
}

// fillAccount adds a cluster with the nodes of a sandbox, one that cannot be reached, a
// Slurm cluster, and one that is being created. With access, the first one's API server
// knows the caller. The result ends that server.
func fillAccount(work string, s *fake.Server, access bool) (func(), error) {
	dir, err := os.MkdirTemp(work, "aws-")
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Create(context.Background(), filepath.Join(dir, "box"+sandbox.Extension), sandbox.DefaultScenario, sandbox.Options{})
	if err != nil {
		return nil, err
	}
	groups, err := groupsOf(box)
	if err != nil {
		return nil, err
	}
	var handler http.Handler = s.Guard("ml-prod-eks", box)
	if !access {
		handler = s.Guard("another", box)
	}
	api := httptest.NewUnstartedServer(handler)
	api.Config.ErrorLog = log.New(io.Discard, "", 0) // processes end with open connections
	api.StartTLS()
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.AddCluster(fake.Spec{Name: "ml-prod", EKS: s.AddEKS(fake.EKS{Name: "ml-prod-eks", Server: api.URL, CA: ca}), Groups: groups, Events: []fake.Event{
		{Time: at, Level: "Info", Describe: "Cluster is in service"},
		{Time: at.Add(time.Hour), Level: "Warn", Group: "accelerated-p5", Describe: "Instance group is updating"},
	}})
	s.AddCluster(fake.Spec{Name: "ml-dev", EKS: s.AddEKS(fake.EKS{Name: "ml-dev-eks", Server: "https://127.0.0.1:1", CA: ca, Private: true}),
		Groups: []fake.GroupSpec{{Name: "workers", InstanceType: "ml.g5.12xlarge", Nodes: []fake.NodeSpec{{ID: "i-0aaaaaaaaaaaaaaa1"}, {ID: "i-0aaaaaaaaaaaaaaa2", Status: "Failure", Message: "NVLink error"}}}}})
	s.AddCluster(fake.Spec{Name: "research", Groups: []fake.GroupSpec{{Name: "controller", InstanceType: "ml.m5.xlarge", Nodes: []fake.NodeSpec{{ID: "i-0bbbbbbbbbbbbbbb1"}}},
		{Name: "workers", InstanceType: "ml.p4d.24xlarge", Count: 3, Nodes: []fake.NodeSpec{{ID: "i-0bbbbbbbbbbbbbbb2"}, {ID: "i-0bbbbbbbbbbbbbbb3"}}}}})
	s.AddCluster(fake.Spec{Name: "staging", EKS: s.AddEKS(fake.EKS{Name: "staging-eks", Status: "CREATING"}), Status: "Creating", Then: []string{"InService"}})
	return func() { api.CloseClientConnections(); api.Close() }, nil
}

// awsEnv leads programs to an account.
func awsEnv(url string) map[string]string {
	return map[string]string{"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": fake.AccessKey, "AWS_SECRET_ACCESS_KEY": fake.SecretKey, "AWS_REGION": "us-west-2"}
}

// groupsOf are the instance groups of a sandbox's nodes.
func groupsOf(box http.Handler) (out []fake.GroupSpec, err error) {
	w := httptest.NewRecorder()
	box.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/nodes", nil))
	var list struct {
		Items []struct {
			Metadata struct {
				Name   string
				Labels map[string]string
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, n := range list.Items {
		labels := n.Metadata.Labels
		name := labels["sagemaker.amazonaws.com/instance-group-name"]
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			// FutureConfig is a member that this version does not know.
			out = append(out, fake.GroupSpec{Name: name, InstanceType: labels["node.kubernetes.io/instance-type"], Given: map[string]any{"FutureConfig": map[string]any{"Mode": "x"}}})
		}
		out[i].Nodes = append(out[i].Nodes, fake.NodeSpec{ID: clusters.InstanceOf(n.Metadata.Name)})
	}
	return out, nil
}

// awsCalls is the command awscalls OPERATION...: the operations that the account received since it started, in
// their order.
func awsCalls(ts *testscript.TestScript, neg bool, args []string) {
	s := server(ts).aws
	if neg || s == nil {
		ts.Fatalf("usage: awscalls OPERATION..., after aws")
	}
	if got, want := strings.Join(s.Calls(), " "), strings.Join(args, " "); got != want {
		ts.Fatalf("calls: %s\nwant:  %s", got, want)
	}
}
