package aws_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// answers makes a server the environment's AWS.
func answers(t *testing.T, h http.HandlerFunc) *aws.Client {
	t.Helper()
	account(t, fake.Options{})
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_SESSION_TOKEN", "session-token")
	return open(t, aws.Options{})
}

// requests are the requests of a client, by the words of their errors.
func requests(t *testing.T, c *aws.Client) map[string]func() error {
	return map[string]func() error{
		"list clusters": func() error { _, err := c.ListClusters(t.Context()); return err },
		"list nodes":    func() error { _, err := c.ListNodes(t.Context(), "ml"); return err },
		"list events":   func() error { _, err := c.ListEvents(t.Context(), "ml", aws.EventQuery{}); return err },
		"list tags": func() error {
			_, err := c.Tags(t.Context(), "arn:aws:sagemaker:us-west-2:123456789012:cluster/a")
			return err
		},
		"list attached": func() error {
			_, err := c.Attached(t.Context(), "arn:aws:sagemaker:us-west-2:123456789012:cluster/a")
			return err
		},
		"list governed": func() error {
			_, _, err := c.Governance(t.Context(), "arn:aws:sagemaker:us-west-2:123456789012:cluster/a")
			return err
		},
		"delete cluster": func() error { return c.DeleteCluster(t.Context(), "ml") },
		"who am I":       func() error { _, err := c.Identity(t.Context()); return err },
	}
}

// Credentials go to no other host, whatever the status of a redirect.
func TestNoRedirectIsFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host got %s with %v", r.Method, r.Header)
	}))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := answers(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		for what, send := range requests(t, c) {
			if err := send(); err == nil || what != "who am I" && !strings.Contains(errs.Text(err, false), "redirects to another address") {
				t.Errorf("%d, %s: %v", status, what, err)
			}
		}
	}
}

// A list ends, whatever tokens the server answers.
func TestEndlessPages(t *testing.T) {
	for name, token := range map[string]func(n int) string{
		"the same token": func(int) string { return "again" },
		"new tokens":     func(n int) string { return fmt.Sprint(n) },
		"a circle":       func(n int) string { return fmt.Sprint(n % 3) },
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			c := answers(t, func(w http.ResponseWriter, r *http.Request) {
				n++
				fmt.Fprintf(w, `{"NextToken": %q}`, token(n))
			})
			for what, send := range requests(t, c) {
				if !strings.HasPrefix(what, "list ") {
					continue
				}
				if err := send(); err == nil || !strings.Contains(errs.Text(err, false), "the list does not end") {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// TestACircleOfPagesEnds: a token that comes again ends a list at once.
func TestACircleOfPagesEnds(t *testing.T) {
	n := 0
	c := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		n++
		fmt.Fprintf(w, `{"NextToken": "%d"}`, n%3)
	})
	if _, err := c.ListNodes(t.Context(), "ml"); err == nil || n != 4 {
		t.Errorf("%d pages were read, %v", n, err)
	}
}

// TestPagesThatOverlap: what two pages list, as when a list changes between them, counts once.
func TestPagesThatOverlap(t *testing.T) {
	n := 0
	c := answers(t, func(w http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		body, _ := io.ReadAll(r.Body)
		more := `,"NextToken":"more"`
		if strings.Contains(string(body), `"more"`) {
			more = ""
		}
		switch operation {
		case "DescribeComputeQuota":
			n++
			fmt.Fprint(w, `{"ComputeQuotaId":"q"}`)
			return
		case "ListClusterSchedulerConfigs":
			fmt.Fprint(w, `{}`)
			return
		}
		fmt.Fprintf(w, `{"ClusterSummaries":[{"ClusterName":"a","ClusterArn":"arn:a"}],"ClusterNodeSummaries":[{"InstanceId":"i-1"}],"Events":[{"EventId":"e"}],
			"ComputeQuotaSummaries":[{"ComputeQuotaId":"q","Name":"q"}],"Tags":[{"Key":"k","Value":"v"}]%s}`, more)
	})
	list, err := c.ListClusters(t.Context())
	nodes, err2 := c.ListNodes(t.Context(), "ml")
	events, err3 := c.ListEvents(t.Context(), "ml", aws.EventQuery{})
	_, quotas, err4 := c.Governance(t.Context(), "arn:a")
	tags, err5 := c.Tags(t.Context(), "arn:a")
	attached, err6 := c.Attached(t.Context(), "arn:a")
	if err := errors.Join(err, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || len(nodes) != 1 || len(events) != 1 || len(quotas) != 1 || n != 1 || len(tags) != 1 || len(attached) != 1 {
		t.Errorf("%d clusters, %d nodes, %d events, %d quotas (%d described), %d tags, %d attached", len(list), len(nodes), len(events), len(quotas), n, len(tags), len(attached))
	}
}

// TestTimesBeyondTheCalendar: a time that no document can have is unknown.
func TestTimesBeyondTheCalendar(t *testing.T) {
	for text, known := range map[string]bool{"253402300799": true, "253402300800": false, "1e300": false, "-1e300": false, "-62135596801": false, "-1": true, "1.7e9": true, "null": false} {
		c := answers(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"ClusterName":"ml","CreationTime":%s}`, text)
		})
		got, err := c.DescribeCluster(t.Context(), "ml")
		if _, bad := json.Marshal(got.Created); err != nil || bad != nil || got.Created.IsZero() == known {
			t.Errorf("%s: %v, %v, %v", text, got.Created, err, bad)
		}
	}
}

// TestFilesWithoutAnEnd: files that the SDK would read into memory are refused before.
func TestFilesWithoutAnEnd(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, bytes.Repeat([]byte("# x\n"), 5<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CA_BUNDLE", "AWS_WEB_IDENTITY_TOKEN_FILE"} {
		for path, why := range map[string]string{"/dev/zero": "it is a device", large: "larger than "} {
			t.Run(variable+" "+why, func(t *testing.T) {
				account(t, fake.Options{})
				t.Setenv(variable, path)
				_, err := aws.Open(t.Context(), aws.Options{})
				if err == nil {
					t.Fatal("it was read")
				}
				if text := errs.Text(err, false); !strings.Contains(text, "cannot read the AWS configuration: "+why) || !strings.Contains(text, path) || !strings.Contains(text, variable) {
					t.Error(err)
				}
			})
		}
		t.Run(variable+" null", func(t *testing.T) {
			account(t, fake.Options{})
			t.Setenv(variable, os.DevNull)
			if _, err := aws.Open(t.Context(), aws.Options{}); err != nil && variable != "AWS_CA_BUNDLE" {
				t.Error(err)
			}
		})
	}
}

// TestLargePages: a list has a limit in bytes for all its pages.
func TestLargePages(t *testing.T) {
	n, large := 0, strings.Repeat(" ", 30<<20)
	c := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		n++
		fmt.Fprintf(w, `{"NextToken": "%d"%s}`, n, large)
	})
	if _, err := c.ListNodes(t.Context(), "ml"); err == nil || !strings.Contains(errs.Text(err, false), "the list is too large: larger than 256 MiB") {
		t.Errorf("%v", err)
	}
	if n > 10 {
		t.Errorf("%d pages of 30 MiB were read", n)
	}
}

// FuzzAnswers: an answer is data or an error for people.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"ClusterSummaries":[{"ClusterName":"a","ClusterArn":"arn:aws:sagemaker:us-west-2:123456789012:cluster/a","CreationTime":1.7e9}]}`), 200)
	f.Add([]byte(`{"InstanceGroups":[null,{"InstanceTypeDetails":[null]}],"Orchestrator":{"Eks":null},"RestrictedInstanceGroups":[{"CurrentCount":1e99}]}`), 200)
	f.Add([]byte(`{"Events":[{"EventTime":-1e300,"EventDetails":null}],"ClusterNodeSummaries":[{"LaunchTime":1e300}]}`), 200)
	f.Add([]byte(`{"__type":"com.amazon#ThrottlingException:x","message":null}`), 400)
	f.Add([]byte("<html>"), 503)
	var body []byte
	var status int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	f.Cleanup(server.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-west-2", "AWS_PROFILE": "", "AWS_CONFIG_FILE": f.TempDir() + "/none"} {
		f.Setenv(name, value)
	}
	c, err := aws.Open(f.Context(), aws.Options{Backoff: noWait})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, code int) {
		body, status = data, 200+(code&0x7fff)%400
		if strings.Contains(string(data), "NextToken") {
			return // thousands of pages take long
		}
		said := func(err error) {
			if err != nil && errs.Text(err, false) == "" {
				t.Errorf("%#v", err)
			}
		}
		cluster, err := c.DescribeCluster(t.Context(), "ml")
		said(err)
		_ = aws.Capacity(cluster)
		for _, send := range requests(t, c) {
			said(send())
		}
		var endpoint clusters.Endpoint
		endpoint, err = c.Endpoint(t.Context(), "arn:aws:eks:us-west-2:123456789012:cluster/ml")
		if said(err); err == nil && endpoint.Server == "" {
			t.Errorf("%+v", endpoint)
		}
	})
}
