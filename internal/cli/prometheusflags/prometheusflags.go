// Package prometheusflags connects commands with a Prometheus server that has the metrics of accelerators.
package prometheusflags

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/deviceuse"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/prometheus"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Flags are what was typed on the command line.
type Flags struct{ Address, TokenFile string }

// Add defines the flags.
func (fl *Flags) Add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&fl.Address, "prometheus", "", "`URL` of a Prometheus server with metrics of accelerators")
	fs.StringVar(&fl.TokenFile, "prometheus-token-file", "", "`file` with the bearer token for it")
	factory.TakesFile(fs, "prometheus-token-file")
}

// Validate checks the flags without looking at a server.
func (fl *Flags) Validate() error {
	if fl.Address == "" {
		return nil
	}
	_, err := client(fl.Address, prometheus.Options{TokenFile: fl.TokenFile})
	return err
}

// Client returns a client of the server that the flags or else the settings name, nil where they name none.
func (fl *Flags) Client(f *factory.Factory) (*prometheus.Client, error) {
	address := cmp.Or(fl.Address, f.Config.Prometheus)
	if address == "" {
		return nil, fl.Unasked()
	}
	o := prometheus.Options{TokenFile: fl.TokenFile, UserAgent: "hyperpod/" + f.Version, Timeout: f.Global.Timeout}
	if fl.Address == "" && o.TokenFile == "" { // the token of the settings is only for the server of the settings
		o.TokenFile = f.Config.PrometheusTokenFile
	}
	return client(address, o)
}

// Unasked returns the error of a token for a server that the run does not ask.
func (fl *Flags) Unasked() error {
	if fl.TokenFile == "" {
		return nil
	}
	return factory.Requires("prometheus-token-file", "--prometheus").Suggest(errs.Option("--prometheus", "https://HOST"))
}

// client makes a client. Errors do not have the address: it may hold a password.
func client(address string, o prometheus.Options) (*prometheus.Client, error) {
	c, err := prometheus.New(address, o)
	if err != nil {
		return nil, errs.Usagef("invalid address of Prometheus: %v", err).Suggest(errs.Option("--prometheus", "https://HOST"))
	}
	return c, nil
}

// Reader reads how busy the accelerators of jobs are, again and again. It lists pods only when a pod is new to it.
type Reader struct {
	Client *prometheus.Client
	// jobOf is the job of each pod; the zero Key is a pod without one.
	jobOf map[deviceuse.Key]deviceuse.Key
}

// Read returns how busy the accelerators of jobs are, over the last deviceuse.Window. namespace limits the pods, "" is all
// namespaces. missing is what of the pods could not be read.
func (r *Reader) Read(ctx context.Context, c *factory.Cluster, namespace string, jobs []state.Job) (use map[deviceuse.Key]deviceuse.Use, missing []state.Missing, err error) {
	sums, counts, err := both(func(query string) ([]prometheus.Series, error) { return r.Client.Query(ctx, query) }, deviceuse.Window)
	if err != nil {
		return nil, nil, err
	}
	pods := deviceuse.Now(sums, counts)
	for p := range pods {
		if _, known := r.jobOf[p]; known || namespace != "" && p.Namespace != namespace {
			continue
		}
		if missing, err = r.list(ctx, c, namespace, jobs); err != nil {
			return nil, nil, err
		}
		break
	}
	known := map[deviceuse.Key]deviceuse.Key{}
	for p := range pods {
		j, ok := r.jobOf[p]
		if !ok {
			r.jobOf[p] = deviceuse.Key{} // a pod that has ended, or of another cluster
		}
		if j.Name != "" {
			known[p] = j
		}
	}
	return deviceuse.ByJob(pods, known), missing, nil
}

// list learns the jobs of pods.
func (r *Reader) list(ctx context.Context, c *factory.Cluster, namespace string, jobs []state.Job) ([]state.Missing, error) {
	st, err := state.Load(ctx, c.Client, state.Want{Namespace: namespace, Pods: true, FallbackNamespaces: func(ctx context.Context) ([]string, error) {
		return discovery.AccessibleNamespaces(ctx, c.Client, "list", kinds.Pod)
	}}, c.Now())
	if err != nil {
		return nil, err
	}
	names := make([]deviceuse.Key, len(jobs))
	for i, j := range jobs {
		names[i] = deviceuse.Key{Namespace: j.Namespace, Name: j.Name}
	}
	r.jobOf = deviceuse.JobsOf(st.Pods, names)
	return st.Missing, factory.Failures(st.Missing)
}

// Hours returns how busy the accelerators of pods were in each hour of a time, by the begin of the hour. It asks day by day:
// a server refuses to load too many samples at once.
func Hours(ctx context.Context, c *prometheus.Client, from, to time.Time) (map[time.Time]map[deviceuse.Key]deviceuse.Use, error) {
	out := map[time.Time]map[deviceuse.Key]deviceuse.Use{}
	const step = time.Hour
	for at := from.UTC().Truncate(step); at.Before(to); at = at.Add(24 * step) {
		last := at.Add(24 * step)
		if end := to.UTC().Add(step - 1).Truncate(step); end.Before(last) {
			last = end
		}
		sums, counts, err := both(func(query string) ([]prometheus.Series, error) { return c.Range(ctx, query, at.Add(step), last, step) }, step)
		if err != nil {
			return nil, err
		}
		for end, pods := range deviceuse.ByPod(sums, counts) {
			out[end.Add(-step)] = pods
		}
	}
	return out, nil
}

// both asks for the two parts of a figure at the same time.
func both(ask func(query string) ([]prometheus.Series, error), over time.Duration) (sums, counts []prometheus.Series, err error) {
	var running crash.Group
	var mu sync.Mutex
	get := func(query string, into *[]prometheus.Series) {
		running.Go(func() {
			series, failed := ask(query)
			mu.Lock()
			defer mu.Unlock()
			*into, err = series, cmp.Or(err, failed)
		})
	}
	get(deviceuse.Sums(over), &sums)
	get(deviceuse.Counts(over), &counts)
	running.Wait()
	return sums, counts, err
}
