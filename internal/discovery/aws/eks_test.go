package aws

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
)

// TestEKSRequests: requests have the paths, parameters and bodies of EKS's restJson1, and
// are signed for EKS in the region of the cluster.
func TestEKSRequests(t *testing.T) {
	var got []string
	entries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := regexp.MustCompile(`"clientRequestToken":"[A-Z2-7]{26}"`).ReplaceAllString(string(body), `"clientRequestToken":"T"`)
		got = append(got, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+text))
		if !strings.Contains(r.Header.Get("Authorization"), "/eu-north-1/eks/aws4_request") {
			t.Errorf("signed as %s", r.Header.Get("Authorization"))
		}
		switch {
		case r.Method == http.MethodPost:
			_, _ = w.Write([]byte(`{"accessEntry":{}}`))
		case strings.Contains(r.RequestURI, "nextToken"):
			_, _ = w.Write([]byte(`{"associatedAccessPolicies":[{"policyArn":"b"}]}`))
		case strings.HasSuffix(r.RequestURI, "access-policies"):
			_, _ = w.Write([]byte(`{"associatedAccessPolicies":[{"policyArn":"a"}],"nextToken":"x/="}`))
		case entries > 0:
			w.Header().Set("X-Amzn-Errortype", "ResourceNotFoundException:http://example.com/")
			w.WriteHeader(404)
			_, _ = w.Write([]byte(`{"message":"none"}`))
		default:
			entries++
			_, _ = w.Write([]byte(`{"accessEntry":{"type":"STANDARD","kubernetesGroups":["g"]}}`))
		}
	}))
	defer server.Close()
	for name, value := range map[string]string{"AWS_ENDPOINT_URL_EKS": server.URL, "AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "s", "AWS_PROFILE": "", "AWS_CONFIG_FILE": t.TempDir() + "/none"} {
		t.Setenv(name, value)
	}
	c, err := Open(t.Context(), Options{Region: "us-west-2"})
	if err != nil {
		t.Fatal(err)
	}
	const role = "arn:aws:iam::123456789012:role/a team/ml"
	e, err := c.AccessEntry(t.Context(), "eu-north-1", "ml", role)
	if err != nil || e == nil || e.Type != "STANDARD" || !slices.Equal(e.Groups, []string{"g"}) || !slices.Equal(e.Policies, []string{"a", "b"}) {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := c.AccessEntry(t.Context(), "eu-north-1", "ml", role); e != nil || err != nil {
		t.Errorf("%+v, %v", e, err)
	}
	want := clusters.AccessEntry{Cluster: "ml", Principal: role, Type: "STANDARD", Groups: []string{"h"}}
	for _, old := range []*clusters.AccessEntry{nil, {Groups: []string{"g"}}, {Groups: []string{"h"}}} {
		if changed, err := c.GrantAccess(t.Context(), "eu-north-1", want, old); err != nil || changed != (old == nil || old.Groups[0] == "g") {
			t.Errorf("%v, %v", changed, err)
		}
	}
	const path = "/clusters/ml/access-entries"
	const one = path + "/arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fa%20team%2Fml"
	if expect := []string{
		"GET " + one, "GET " + one + "/access-policies", "GET " + one + "/access-policies?nextToken=x%2F%3D", "GET " + one,
		"POST " + path + ` {"principalArn":"` + role + `","type":"STANDARD","kubernetesGroups":["h"],"clientRequestToken":"T"}`,
		"POST " + one + ` {"kubernetesGroups":["g","h"],"clientRequestToken":"T"}`,
	}; !slices.Equal(got, expect) {
		t.Errorf("requests\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(expect, "\n"))
	}
}

// TestEKSEndpoints: each partition has its own host names.
func TestEKSEndpoints(t *testing.T) {
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	for region, want := range map[string]string{
		"us-west-2": "https://eks.us-west-2.amazonaws.com", "cn-north-1": "https://eks.cn-north-1.amazonaws.com.cn",
		"us-gov-west-1": "https://eks.us-gov-west-1.amazonaws.com", "us-iso-east-1": "https://eks.us-iso-east-1.c2s.ic.gov",
	} {
		c, err := Open(t.Context(), Options{Region: region})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.endpoint(t.Context(), eksService); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", region, got, err, want)
		}
	}
}
