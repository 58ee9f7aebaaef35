package aws

import (
	"net/http/httptest"
	"testing"
)

// ForTest serves a fake until the test ends. The environment of the process leads commands to it.
func ForTest(t *testing.T, o Options) *Server {
	t.Helper()
	s := New(o)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": AccessKey, "AWS_SECRET_ACCESS_KEY": SecretKey,
		"AWS_REGION": "us-west-2", "AWS_PROFILE": "", "AWS_CONFIG_FILE": t.TempDir() + "/none"} {
		t.Setenv(name, value)
	}
	return s
}
