package state

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// liveClient is a client of a test server over real HTTP that never waits.
func liveClient(t testing.TB, srv *httptest.Server, change ...func(*kube.Options)) *kube.Client {
	t.Helper()
	o := kube.Options{UserAgent: "hyperpod/test", Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	for _, f := range change {
		f(&o)
	}
	c, err := kube.New(&rest.Config{Host: srv.URL}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
