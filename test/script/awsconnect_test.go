package script

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// TestConnectLikeAWSCLI: connect-cluster --exec aws writes the entries that the AWS CLI
// writes, and changes no byte of a file of the AWS CLI. The own entry differs in the
// credential plugin alone. get-token prints a token with the URL that the AWS CLI signs.
func TestConnectLikeAWSCLI(t *testing.T) {
	t.Parallel()
	aws, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("the AWS CLI is not installed")
	}
	home := t.TempDir()
	s := fake.New(fake.Options{})
	endpoint := httptest.NewServer(s)
	t.Cleanup(endpoint.Close)
	api := httptest.NewTLSServer(s.Guard("ml-eks", nil))
	t.Cleanup(api.Close)
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
	s.AddCluster(fake.Spec{Name: "ml", EKS: s.AddEKS(fake.EKS{Name: "ml-eks", Server: "https://127.0.0.1:1", CA: ca})})
	account := []string{"AWS_CONFIG_FILE=" + home + "/none", "AWS_SHARED_CREDENTIALS_FILE=" + home + "/none"}
	for name, value := range awsEnv(endpoint.URL) {
		account = append(account, name+"="+value)
	}
	cli := awsCLI(t, aws, home, account)
	own := func(args ...string) string {
		t.Helper()
		out, err := runWith(t, home, account, args...)
		if err != nil {
			t.Fatalf("hyperpod %s: %v", strings.Join(args, " "), err)
		}
		return out
	}
	read := func(path string) (m map[string]any) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	for name, flags := range map[string][]string{"plain": nil, "alias": {"--alias", "prod"}} {
		theirs, ours, plugin := filepath.Join(home, name+"-aws"), filepath.Join(home, name+"-hyperpod"), filepath.Join(home, name+"-own")
		cli(append([]string{"eks", "update-kubeconfig", "--name", "ml-eks", "--kubeconfig", theirs}, flags...)...)
		own(append([]string{"connect-cluster", "ml", "--exec", "aws", "--kubeconfig", ours}, flags...)...)
		own(append([]string{"connect-cluster", "ml", "--kubeconfig", plugin}, flags...)...)
		want, same, other := read(theirs), read(ours), read(plugin)
		delete(want, "preferences") // empty
		if !reflect.DeepEqual(same, want) {
			t.Errorf("%s: the AWS CLI writes\n%v\nconnect-cluster --exec aws writes\n%v", name, want, same)
		}
		delete(want, "users")
		delete(other, "users")
		if !reflect.DeepEqual(other, want) {
			t.Errorf("%s: beside the user, the AWS CLI writes\n%v\nconnect-cluster\n%v", name, want, other)
		}
		// Either leaves the other's entry as it is.
		before, err := os.ReadFile(theirs)
		if err != nil {
			t.Fatal(err)
		}
		own(append([]string{"connect-cluster", "ml", "--exec", "aws", "--kubeconfig", theirs}, flags...)...)
		if after, err := os.ReadFile(theirs); err != nil || string(after) != string(before) {
			t.Errorf("%s: %v, connect-cluster --exec aws changes the AWS CLI's file from\n%s\nto\n%s", name, err, before, after)
		}
	}

	type credential struct {
		Kind, APIVersion string
		Spec             map[string]any
		Status           struct {
			ExpirationTimestamp time.Time
			Token               string
		}
	}
	shape := func(text string) (url.Values, string, credential) {
		t.Helper()
		var c credential
		decode(t, text, &c)
		encoded, ok := strings.CutPrefix(c.Status.Token, "k8s-aws-v1.")
		signed, err := base64.RawURLEncoding.DecodeString(encoded)
		u, bad := url.Parse(string(signed))
		if !ok || err != nil || bad != nil {
			t.Fatalf("%v %v: no presigned URL in %s", err, bad, text)
		}
		if !s.SignsIn(c.Status.Token, "ml-eks") {
			t.Errorf("the token does not sign in: %s", signed)
		}
		at, err := time.Parse("20060102T150405Z", u.Query().Get("X-Amz-Date"))
		if left := c.Status.ExpirationTimestamp.Sub(at); err != nil || left < 14*time.Minute-2*time.Second || left > 14*time.Minute+2*time.Second {
			t.Errorf("it expires %v after it was signed, %v", left, err)
		}
		query := u.Query()
		for _, varies := range []string{"X-Amz-Date", "X-Amz-Signature"} {
			if query.Get(varies) == "" {
				t.Errorf("no %s in %s", varies, signed)
			}
			query.Set(varies, "")
		}
		u.RawQuery = ""
		c.Status.Token, c.Status.ExpirationTimestamp = "", time.Time{}
		return query, u.String(), c
	}
	theirQuery, theirURL, theirs := shape(cli("eks", "get-token", "--cluster-name", "ml-eks", "--output", "json"))
	env := append(slices.Clone(account), `KUBERNETES_EXEC_INFO={"apiVersion":"client.authentication.k8s.io/v1beta1"}`)
	out, err := runWith(t, home, env, "get-token", "ml-eks", "--no-cache")
	if err != nil {
		t.Fatal(err)
	}
	query, address, ours := shape(out)
	if address != theirURL || !reflect.DeepEqual(query, theirQuery) {
		t.Errorf("the AWS CLI signs %s %v, get-token %s %v", theirURL, theirQuery, address, query)
	}
	if !reflect.DeepEqual(ours, theirs) {
		a, _ := json.Marshal(theirs)
		b, _ := json.Marshal(ours)
		t.Errorf("the AWS CLI prints %s, get-token %s", a, b)
	}
}
