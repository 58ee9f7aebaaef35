package getclusters

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// TestFiftyClusters: each cluster takes two requests to AWS, beside the list.
func TestFiftyClusters(t *testing.T) {
	const clusters = 50
	s := fake.ForTest(t, fake.Options{})
	api := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`))
	}))
	api.Config.ErrorLog = log.New(io.Discard, "", 0)
	api.StartTLS()
	defer api.Close()
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
	for i := range clusters {
		name := fmt.Sprintf("c%02d", i)
		s.AddCluster(fake.Spec{Name: name, EKS: s.AddEKS(fake.EKS{Name: name + "-eks", Server: api.URL, CA: ca}), Groups: []fake.GroupSpec{{Name: "g", InstanceType: "ml.g5.8xlarge", Count: 1}}})
	}
	io, b := output.Test()
	o := &Options{Factory: &factory.Factory{IO: io, Env: os.Getenv, Now: time.Now}, Orchestrator: all}
	o.Factory.Global.Output = "table"
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.Out.String(), "\n"); n != clusters+1 {
		t.Errorf("%d lines:\n%s%s", n, b.Out, b.Err)
	}
	calls := slices.DeleteFunc(s.Calls(), func(c string) bool { return c == "DescribeCluster" || c == "eks.DescribeCluster" })
	if len(s.Calls())-len(calls) != 2*clusters || len(calls) > 1 {
		t.Errorf("%d requests, %v", len(s.Calls()), calls)
	}
}
