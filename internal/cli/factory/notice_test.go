package factory

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestNoticesOfClients: a command asks 50 clusters at once, and all of them are slow.
func TestNoticesOfClients(t *testing.T) {
	var out bytes.Buffer
	f := &Factory{IO: &output.IO{Err: &out}, Env: func(string) string { return "" }}
	var all sync.WaitGroup
	for range 50 {
		o := f.clientOptions()
		all.Go(func() { o.Delayed(kube.Delay{Stage: kube.Answer}) })
		all.Go(func() { f.Notef("another notice") })
	}
	all.Wait()
	if n := strings.Count(out.String(), "waiting for an answer"); n != 1 {
		t.Errorf("the notice is printed %d times", n)
	}
}
