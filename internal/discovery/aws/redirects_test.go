package aws

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// The tokens of the sources of credentials go to no other host: of IAM Identity Center, of a web identity, of a role, of a
// container and of "aws login".
func TestCredentialSourcesFollowNoRedirect(t *testing.T) {
	const start = "https://start.example/start"
	config := fmt.Sprintf(`[profile sso]
region = us-west-2
sso_start_url = %s
sso_region = us-west-2
sso_account_id = 123456789012
sso_role_name = Data
[profile session]
region = us-west-2
sso_session = s
sso_account_id = 123456789012
sso_role_name = Data
[sso-session s]
sso_start_url = %[1]s
sso_region = us-west-2
[profile web]
region = us-west-2
[profile container]
region = us-west-2
[profile role]
region = us-west-2
role_arn = arn:aws:iam::123456789012:role/r
source_profile = keys
[profile login]
region = us-west-2
login_session = arn:aws:iam::123456789012:user/u
[profile keys]
aws_access_key_id = AKIDEXAMPLE
aws_secret_access_key = secret
aws_session_token = token
`, start)
	home := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cached := func(key, expires string) {
		sum := sha1.Sum([]byte(key))
		write(".aws/sso/cache/"+hex.EncodeToString(sum[:])+".json", fmt.Sprintf(
			`{"accessToken":"token","refreshToken":"refresh","clientId":"id","clientSecret":"secret","expiresAt":%q,"registrationExpiresAt":"2999-01-01T00:00:00Z","startUrl":%q}`, expires, start))
	}
	cached(start, "2999-01-01T00:00:00Z")
	cached("s", "2001-01-01T00:00:00Z") // it has to be renewed
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(fmt.Sprintf(".aws/login/cache/%x.json", sha256.Sum256([]byte("arn:aws:iam::123456789012:user/u"))), fmt.Sprintf(
		`{"accessToken":{"accessKeyId":"AKIDEXAMPLE","secretAccessKey":"secret","sessionToken":"token","accountId":"123456789012","expiresAt":"2001-01-01T00:00:00Z"},
		"refreshToken":"refresh","clientId":"id","dpopKey":%q}`, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})))
	t.Setenv("HOME", home)
	t.Setenv("AWS_CONFIG_FILE", write("config", config))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", write("credentials", ""))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	for _, status := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		for profile, env := range map[string]map[string]string{
			"sso": {}, "session": {}, "role": {}, "login": {},
			"web":       {"AWS_WEB_IDENTITY_TOKEN_FILE": write("token", "token"), "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/r"},
			"container": {"AWS_CONTAINER_AUTHORIZATION_TOKEN": "token"},
		} {
			t.Run(fmt.Sprint(profile, " ", status), func(t *testing.T) {
				elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					t.Errorf("another host got %s %s", r.Method, r.URL.Path)
					w.WriteHeader(http.StatusForbidden)
				}))
				defer elsewhere.Close()
				var asked atomic.Int32
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked.Add(1)
					http.Redirect(w, r, elsewhere.URL, status)
				}))
				defer server.Close()
				for k, v := range env {
					t.Setenv(k, v)
				}
				for _, s := range []string{"SSO", "SSO_OIDC", "STS", "SIGNIN"} {
					t.Setenv("AWS_ENDPOINT_URL_"+s, server.URL)
				}
				if profile == "container" {
					t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.URL)
				}
				o := Options{Profile: profile, Backoff: func(int) time.Duration { return time.Millisecond }}
				if len(env) > 0 {
					o.Profile, o.Region = "", "us-west-2" // they are used without a profile
				}
				c, err := Open(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.credentials(t.Context()); err == nil {
					t.Error("credentials came from nowhere")
				}
				if asked.Load() == 0 {
					t.Error("the source was not asked")
				}
			})
		}
	}
}
