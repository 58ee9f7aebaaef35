package main

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// The account of the part aws: its size, and the time that each answer of AWS takes.
const (
	accountClusters = 50
	accountLatency  = 50 * time.Millisecond
)

// aws times the commands about clusters on the fake of AWS, whole processes, and counts their requests. The API
// servers of the clusters answer at once.
func (b *bench) aws(ctx context.Context) error {
	s := fake.New(fake.Options{})
	account := httptest.NewServer(s)
	defer account.Close()
	api := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`))
	}))
	api.Config.ErrorLog = log.New(io.Discard, "", 0)
	api.StartTLS()
	defer api.Close()
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
	for i := range accountClusters {
		name := fmt.Sprintf("c%02d", i)
		s.AddCluster(fake.Spec{Name: name, EKS: s.AddEKS(fake.EKS{Name: name + "-eks", Server: api.URL, CA: ca}),
			Groups: []fake.GroupSpec{{Name: "g", InstanceType: "ml.g5.8xlarge", Count: 1}}})
	}
	s.Delay(accountLatency)
	home := filepath.Join(b.dir, "aws")
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + home,
		"AWS_ENDPOINT_URL=" + account.URL, "AWS_ACCESS_KEY_ID=" + fake.AccessKey, "AWS_SECRET_ACCESS_KEY=" + fake.SecretKey, "AWS_REGION=us-west-2"}
	fmt.Printf("\ncommands about clusters, an account of %d, %s for each answer of AWS (medians of %d runs each%s)\n%-46s %8s %10s  %s\n",
		accountClusters, accountLatency, b.runs, load(), "", "wall ms", "budget ms", "requests to AWS")
	for _, c := range []struct {
		name   string
		args   []string
		budget time.Duration
	}{
		{"get-clusters, 50 clusters", []string{"get-clusters", "-o", "table"}, time.Second},
		{"get-token, cached", []string{"get-token", "c00-eks"}, 30 * time.Millisecond},
		{"get-token, signed", []string{"get-token", "c00-eks", "--no-cache"}, 0},
		{"connect-cluster (at most 3 requests)", []string{"connect-cluster", "c00", "-n", "team"}, 0},
	} {
		var walls []time.Duration
		requests := 0
		for i := range b.runs + 1 { // the first run, which is not counted, fills the cache
			before := len(s.Calls())
			took, err := b.once(ctx, env, append([]string{b.hyperpod}, c.args...))
			if err != nil {
				return fmt.Errorf("%s: %w", strings.Join(c.args, " "), err)
			}
			if i > 0 {
				walls = append(walls, took.Wall)
				requests = len(s.Calls()) - before
			}
		}
		b.part.add(c.name+", an account with 50 clusters, 50 ms for each answer", ms(median(walls)), "ms", ms(c.budget))
		budget := "-"
		if c.budget > 0 {
			budget = fmt.Sprint(c.budget.Milliseconds())
		}
		fmt.Printf("%-46s %8d %10s  %d\n", c.name, median(walls).Milliseconds(), budget, requests)
	}
	return nil
}
