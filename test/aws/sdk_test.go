package aws_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sagemaker"

	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/service"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// sent is a request to SageMaker.
type sent struct {
	Method, Path, Target, ContentType string
	// Scope is the region and the service that it is signed for.
	Scope string
	Body  any
}

func (s sent) operation() string { return strings.TrimPrefix(s.Target, "SageMaker.") }

// recorder keeps the requests that it passes on.
type recorder struct {
	next http.Handler
	mu   sync.Mutex
	got  []sent
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	text, err := io.ReadAll(q.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, scope, _ := strings.Cut(q.Header.Get("Authorization"), "Credential=")
	scope, _, _ = strings.Cut(scope, ",")
	parts := strings.Split(scope, "/") // key, date, region, service, aws4_request
	s := sent{Method: q.Method, Path: q.URL.Path, Target: q.Header.Get("X-Amz-Target"), ContentType: q.Header.Get("Content-Type"), Scope: strings.Join(parts[min(2, len(parts)):], "/")}
	if json.Unmarshal(text, &s.Body) != nil {
		s.Body = string(text)
	}
	r.mu.Lock()
	r.got = append(r.got, s)
	r.mu.Unlock()
	q.Body = io.NopCloser(bytes.NewReader(text))
	r.next.ServeHTTP(w, q)
}

func (r *recorder) take() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.got
	r.got = nil
	return out
}

const (
	first = `version: hyperpod.policy/v1
policy:
  name: p
  description: ours
  fairShare: Enabled
  idleResourceSharing: Disabled
  priorityClasses: [{name: inference, weight: 100}, {name: training, weight: 0}]
teams:
- team: a
  description: "first: ü"
  quota:
  - {instanceType: ml.p5.48xlarge, count: 2}
  - {instanceType: ml.g5.12xlarge, accelerators: 3}
  - {instanceType: ml.m5.xlarge, vcpu: 2.5, memoryInGiB: 10}
  - {instanceType: ml.p4d.24xlarge, acceleratorPartition: {type: mig-1g.5gb, count: 7}}
  absoluteBorrowLimits: [{instanceType: ml.p5.48xlarge, count: 1}]
  preemptTeamTasks: Never
  fairShareWeight: 30
  activation: Disabled
- team: b
  quota: [{instanceType: ml.p5.48xlarge, count: 1}]
  strategy: DontLend
- team: c
  quota: [{instanceType: ml.p5.48xlarge, count: 1}]
  strategy: Lend
- team: d
  quota: [{instanceType: ml.p5.48xlarge, count: 1}]
  borrowLimit: 0
  fairShareWeight: 0
`
	second = `version: hyperpod.policy/v1
policy:
  name: p
  fairShare: Disabled
  priorityClasses: [{name: training, weight: 5}]
teams:
- team: a
  quota: [{instanceType: ml.p5.48xlarge, count: 0}]
  borrowLimit: 10000
- team: b
  quota: [{instanceType: ml.p5.48xlarge, count: 1}]
  strategy: LendAndBorrow
  borrowLimit: 70
- team: c
  quota: [{instanceType: ml.p5.48xlarge, count: 1}]
  strategy: Lend
`
)

// TestRequestsAreThoseOfTheSDK: what we send to SageMaker about governance is, member by
// member and header by header, what the client of the AWS SDK sends for the same values.
func TestRequestsAreThoseOfTheSDK(t *testing.T) {
	account := fake.New(fake.Options{})
	account.SetPace(0)
	arn := account.AddCluster(fake.Spec{Name: "ml", EKS: account.AddEKS(fake.EKS{Name: "ml-eks", Server: "https://ml.example", CA: "QQ=="})})
	r := &recorder{next: account}
	server := httptest.NewServer(r)
	defer server.Close()
	home := t.TempDir()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": fake.AccessKey, "AWS_SECRET_ACCESS_KEY": fake.SecretKey, "AWS_SESSION_TOKEN": "",
		"AWS_REGION": "us-west-2", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": filepath.Join(home, "config"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(home, "credentials"),
	} {
		t.Setenv(name, value)
	}
	ours, err := aws.Open(t.Context(), aws.Options{Backoff: func(int) time.Duration { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	state := func() *service.State {
		policies, allocations, err := ours.Governance(t.Context(), arn)
		if err != nil {
			t.Fatal(err)
		}
		s, err := service.NewState("ml", arn, policies, allocations)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, text := range []string{first, second} {
		doc, _, faults := policy.Parse([]byte(text))
		if len(faults) > 0 {
			t.Fatalf("%+v", faults)
		}
		s := state()
		if text == second { // as for a resource that is created again
			s.Allocations[0].Tags = []any{map[string]any{"Key": "owner", "Value": "ada"}}
			if _, err := ours.Tags(t.Context(), s.Allocations[0].ARN); err != nil {
				t.Fatal(err)
			}
		}
		found, err := service.Compare(service.Request{State: s, Document: doc, Mapping: policy.DefaultMapping(), Prune: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range found.Operations {
			request := op.Object
			if op.Action == policy.Delete {
				request = service.JSON{op.Kind + "Id": op.ID}
			}
			if _, err := ours.ChangeGoverned(t.Context(), string(op.Action)+op.Kind, request); err != nil {
				t.Errorf("%s %s: %v", op.Action, op.Name, err)
			}
		}
	}
	state()
	requests := r.take()
	client := sagemaker.New(sagemaker.Options{Region: "us-west-2", BaseEndpoint: sdk.String(server.URL), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(fake.AccessKey, fake.SecretKey, "")})
	seen := map[string]bool{}
	for _, want := range requests {
		seen[want.operation()] = true
		if err := send(t.Context(), client, want); err != nil {
			t.Errorf("%s: %v", want.operation(), err)
			continue
		}
		if got := r.take(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s\nwe send      %+v\nthe SDK sends %+v", want.operation(), want, got)
		}
	}
	for _, kind := range []string{"ComputeQuota", "ClusterSchedulerConfig"} {
		for _, operation := range []string{"Create" + kind, "Update" + kind, "Describe" + kind, "List" + kind + "s"} {
			if !seen[operation] {
				t.Errorf("no request %s", operation)
			}
		}
	}
	if !seen["DeleteComputeQuota"] || !seen["ListTags"] {
		t.Errorf("not all operations: %v", seen)
	}
	if !slices.ContainsFunc(requests, func(s sent) bool { return strings.Contains(s.Scope, "us-west-2/sagemaker") }) {
		t.Errorf("no request is signed: %+v", requests[0])
	}
}

// send lets the SDK's client send a request with the values of another one. A member
// that the SDK does not have is an error; what the server answers does not matter.
func send(ctx context.Context, c *sagemaker.Client, s sent) error {
	method := reflect.ValueOf(c).MethodByName(s.operation())
	in := reflect.New(method.Type().In(1).Elem())
	text, err := json.Marshal(s.Body)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(in.Interface()); err != nil {
		return err
	}
	method.Call([]reflect.Value{reflect.ValueOf(ctx), in})
	return nil
}
