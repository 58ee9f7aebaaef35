package aws_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// account serves a fake and makes it the environment's AWS.
func account(t *testing.T, o fake.Options) *fake.Server {
	t.Helper()
	s := fake.New(o)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	home := t.TempDir()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": fake.AccessKey, "AWS_SECRET_ACCESS_KEY": fake.SecretKey, "AWS_SESSION_TOKEN": "",
		"AWS_REGION": "us-west-2", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": filepath.Join(home, "config"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(home, "credentials"),
	} {
		t.Setenv(name, value)
	}
	return s
}

func noWait(int) time.Duration { return 0 }

func open(t *testing.T, o aws.Options) *aws.Client {
	t.Helper()
	o.Backoff = noWait
	c, err := aws.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestListClustersReadsAllPages(t *testing.T) {
	s := account(t, fake.Options{})
	for i := range 230 {
		s.AddCluster(fake.Spec{Name: fmt.Sprintf("c-%03d", 229-i)})
	}
	list, err := open(t, aws.Options{}).ListClusters(t.Context())
	if err != nil || len(list) != 230 || list[0].Name != "c-000" || list[229].Name != "c-229" || list[0].Status != clusters.InService || list[0].Region() != "us-west-2" {
		t.Fatalf("%v, %d clusters, %+v", err, len(list), list[:1])
	}
	if calls := s.Calls(); len(calls) != 3 {
		t.Errorf("%d calls: %v", len(calls), calls)
	}
}

func TestDescribeCluster(t *testing.T) {
	s := account(t, fake.Options{})
	eks := s.AddEKS(fake.EKS{Name: "ml-eks", Server: "https://127.0.0.1:1", CA: "QQ=="})
	arn := s.AddCluster(fake.Spec{Name: "ml", EKS: eks, Groups: []fake.GroupSpec{{Name: "gpu", InstanceType: "ml.p5.48xlarge", Count: 3, Nodes: []fake.NodeSpec{{ID: "i-1"}, {ID: "i-2"}}}}})
	s.AddCluster(fake.Spec{Name: "slurm"})
	c := open(t, aws.Options{})
	for _, name := range []string{"ml", arn} {
		got, err := c.DescribeCluster(t.Context(), name)
		if err != nil || got.Orchestrator != clusters.EKS || got.EKSARN != eks || len(got.Groups) != 1 {
			t.Fatalf("%s: %v, %+v", name, err, got)
		}
		if g := got.Groups[0]; g.Current != 2 || g.Target != 3 || g.InstanceTypes[0] != "ml.p5.48xlarge" || g.Status != "InService" || g.ThreadsPerCore != 1 {
			t.Errorf("%+v", g)
		}
	}
	if got, err := c.DescribeCluster(t.Context(), "slurm"); err != nil || got.Orchestrator != clusters.Slurm {
		t.Errorf("%v, %+v", err, got)
	}
	endpoint, err := c.Endpoint(t.Context(), eks)
	if err != nil || endpoint.Server != "https://127.0.0.1:1" || endpoint.Status != "ACTIVE" || endpoint.Name != "ml-eks" || endpoint.Region != "us-west-2" || !endpoint.PublicAccess {
		t.Errorf("%v, %+v", err, endpoint)
	}
}

// The request about an EKS cluster goes to the region of its ARN.
func TestEndpointInAnotherRegion(t *testing.T) {
	s := account(t, fake.Options{})
	arn := s.AddEKS(fake.EKS{Name: "far", Region: "eu-central-1", Server: "https://127.0.0.1:1", CA: "QQ=="})
	if _, err := open(t, aws.Options{}).Endpoint(t.Context(), arn); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, aws.Options{}).Endpoint(t.Context(), strings.Replace(arn, "eu-central-1", "us-west-2", 1))
	if errs.ExitOf(err) != errs.NotFound {
		t.Errorf("%v", err)
	}
}

func TestListNodesAndEvents(t *testing.T) {
	s := account(t, fake.Options{})
	var nodes []fake.NodeSpec
	for i := range 120 {
		nodes = append(nodes, fake.NodeSpec{ID: fmt.Sprintf("i-%03d", 119-i)})
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var events []fake.Event
	for i := range 130 {
		events = append(events, fake.Event{Time: at.Add(time.Duration(i) * time.Minute), Level: "Info", Group: "gpu", Instance: fmt.Sprintf("i-%03d", i%2), Describe: fmt.Sprint("event ", i)})
	}
	s.AddCluster(fake.Spec{Name: "ml", Groups: []fake.GroupSpec{{Name: "gpu", InstanceType: "ml.p5.48xlarge", Nodes: nodes}}, Events: events})
	c := open(t, aws.Options{})
	list, err := c.ListNodes(t.Context(), "ml")
	if err != nil || len(list) != 120 || list[0].InstanceID != "i-000" || list[0].Status != "Running" || list[0].Group != "gpu" {
		t.Fatalf("%v, %d, %+v", err, len(list), list[:1])
	}
	all, err := c.ListEvents(t.Context(), "ml", aws.EventQuery{})
	if err != nil || len(all) != 130 || all[0].Description != "event 0" || !all[0].Time.Equal(at) || all[129].Description != "event 129" {
		t.Fatalf("%v, %d, %+v", err, len(all), all[0])
	}
	newest, err := c.ListEvents(t.Context(), "ml", aws.EventQuery{Most: 5, InstanceID: "i-001"})
	if err != nil || len(newest) != 5 || newest[4].Description != "event 129" || newest[0].Description != "event 121" {
		t.Errorf("%v, %+v", err, newest)
	}
	later, err := c.ListEvents(t.Context(), "ml", aws.EventQuery{After: at.Add(120 * time.Minute)})
	if err != nil || len(later) != 10 {
		t.Errorf("%v, %d", err, len(later))
	}
}

func TestThrottledRequestsAreRepeated(t *testing.T) {
	s := account(t, fake.Options{})
	s.AddCluster(fake.Spec{Name: "ml"})
	s.Throttle("DescribeCluster", 3)
	if _, err := open(t, aws.Options{}).DescribeCluster(t.Context(), "ml"); err != nil {
		t.Fatal(err)
	}
	s.Throttle("ListClusters", 0)
	_, err := open(t, aws.Options{}).ListClusters(t.Context())
	if err == nil || err.Error() != "cannot list clusters: AWS throttles requests" || errs.ExitOf(err) != errs.Failure {
		t.Errorf("%v", err)
	}
}

func TestErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		fault fake.Fault
		env   map[string]string
		o     aws.Options
		want  string
		code  errs.Exit
	}{
		"access denied": {fault: fake.Fault{Operation: "ListClusters", Status: 400, Code: "AccessDeniedException", Message: "User ada is not authorized"},
			want: "cannot list clusters: access denied", code: errs.Denied},
		"expired": {fault: fake.Fault{Operation: "ListClusters", Status: 400, Code: "ExpiredTokenException", Message: "The security token included in the request is expired"},
			want: "cannot list clusters: the AWS credentials have expired, or the clock is wrong", code: errs.Denied},
		"unknown key": {env: map[string]string{"AWS_ACCESS_KEY_ID": "AKIDOTHER"}, want: "cannot list clusters: AWS rejected the credentials", code: errs.Denied},
		"no credentials": {env: map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""},
			want: "cannot list clusters: no AWS credentials found", code: errs.Denied},
		"no region":      {env: map[string]string{"AWS_REGION": ""}, want: "no AWS region: neither the environment nor the AWS profile names one", code: errs.Usage},
		"invalid region": {o: aws.Options{Region: "us-west-2.example.com/"}, want: `invalid AWS region "us-west-2.example.com/": must be like us-west-2`, code: errs.Usage},
		"no profile":     {o: aws.Options{Profile: "lab"}, want: `AWS profile "lab" not found`, code: errs.NotFound},
		"other error": {fault: fake.Fault{Operation: "ListClusters", Status: 400, Code: "ValidationException", Message: "1 validation error"},
			want: "cannot list clusters: 1 validation error", code: errs.Failure},
	} {
		t.Run(name, func(t *testing.T) {
			s := account(t, fake.Options{})
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			if tt.fault.Operation != "" {
				s.Fail(tt.fault)
			}
			tt.o.Backoff = func(int) time.Duration { return 0 }
			c, err := aws.Open(t.Context(), tt.o)
			if err == nil {
				_, err = c.ListClusters(t.Context())
			}
			if err == nil || err.Error() != tt.want || errs.ExitOf(err) != tt.code {
				t.Errorf("got %v (%d)\nwant %s (%d)", err, errs.ExitOf(err), tt.want, tt.code)
			}
		})
	}
}

func TestMissingClusterHasNearNames(t *testing.T) {
	s := account(t, fake.Options{})
	s.AddCluster(fake.Spec{Name: "ml-prod"})
	s.AddCluster(fake.Spec{Name: "research"})
	_, err := open(t, aws.Options{}).DescribeCluster(t.Context(), "ml-prd")
	text := errs.Text(err, false)
	if errs.ExitOf(err) != errs.NotFound || !strings.Contains(text, `cluster "ml-prd" not found in us-west-2`) || !strings.Contains(text, "did you mean:  ml-prod") {
		t.Errorf("%s", text)
	}
}

// A token is what EKS accepts, for this cluster only, and costs no request.
func TestTokenSignsIn(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := account(t, fake.Options{})
	token, err := open(t, aws.Options{Now: func() time.Time { return at }}).Token(t.Context(), "eu-west-1", "ml-eks")
	if err != nil || !token.Expires.Equal(at.Add(14*time.Minute)) {
		t.Fatalf("%v, %v", err, token.Expires)
	}
	if !s.SignsIn(token.Value, "ml-eks") || s.SignsIn(token.Value, "other") || s.SignsIn(token.Value+"x", "ml-eks") || len(s.Calls()) != 0 {
		t.Errorf("%s, calls %v", token.Value, s.Calls())
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	other, err := open(t, aws.Options{}).Token(t.Context(), "eu-west-1", "ml-eks")
	if err != nil || s.SignsIn(other.Value, "ml-eks") {
		t.Errorf("%v: a token of a wrong key signs in", err)
	}
}

// The regional STS hosts of every partition, without a fake.
func TestTokenHosts(t *testing.T) {
	account(t, fake.Options{})
	_ = os.Unsetenv("AWS_ENDPOINT_URL")
	for region, host := range map[string]string{"us-west-2": "sts.us-west-2.amazonaws.com", "us-gov-west-1": "sts.us-gov-west-1.amazonaws.com",
		"cn-north-1": "sts.cn-north-1.amazonaws.com.cn", "us-iso-east-1": "sts.us-iso-east-1.c2s.ic.gov"} {
		token, err := open(t, aws.Options{}).Token(t.Context(), region, "x")
		if err != nil || fake.TokenHost(token.Value) != host {
			t.Errorf("%s: %v, %s", region, err, fake.TokenHost(token.Value))
		}
	}
}

func TestObserve(t *testing.T) {
	account(t, fake.Options{})
	var seen []string
	c := open(t, aws.Options{Observe: func(r aws.Request) { seen = append(seen, fmt.Sprint(r.Method, " ", r.Operation, " ", r.Status)) }, Timeout: time.Minute})
	if _, err := c.ListClusters(t.Context()); err != nil || !slices.Equal(seen, []string{"POST SageMaker.ListClusters 200"}) {
		t.Errorf("%v, %q", err, seen)
	}
}

func TestIdentity(t *testing.T) {
	s := account(t, fake.Options{Partition: "aws-cn", Region: "cn-north-1"})
	if who, err := open(t, aws.Options{Region: "cn-north-1"}).Identity(t.Context()); err != nil || who != s.Caller() {
		t.Errorf("%v, %s", err, who)
	}
}
