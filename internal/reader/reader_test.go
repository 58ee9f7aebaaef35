package reader_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

var (
	errForbidden = &kube.StatusError{Code: http.StatusForbidden, Reason: "Forbidden", Message: "User cannot list"}
	errNotInFile = &kube.StatusError{Code: http.StatusForbidden, Reason: kube.NotInFile}
	errElsewhere = &kube.StatusError{Code: http.StatusForbidden, Reason: kube.NotCaptured}
	errNotServed = &kube.StatusError{Code: http.StatusNotFound}
	errNotFound  = &kube.StatusError{Code: http.StatusNotFound, Details: kube.Details{Name: "x"}}
	errFailed    = &kube.StatusError{Code: http.StatusInternalServerError}
)

// answers are what a server has, by scope: "" is the whole list, another text a
// namespace or the name of an object.
type answers map[string]any

func (a answers) kind(r kinds.Resource, names ...string) reader.Kind[string] {
	k := reader.Kind[string]{Resource: r,
		List: func(_ context.Context, ns string) ([]string, error) {
			if err, ok := a[ns].(error); ok {
				return nil, err
			}
			return strings.Fields(fmt.Sprint(a[ns])), nil
		},
		Get: func(_ context.Context, name string) (string, error) {
			if err, ok := a[name].(error); ok {
				return "", err
			}
			return name, nil
		}}
	if names != nil {
		k.Names = func(context.Context) ([]string, error) { return names, nil }
	}
	return k
}

func missing(r *reader.Reader) string {
	var out []string
	for _, m := range r.Missing() {
		s := fmt.Sprintf("%s %s/%s %s", m.Verb, m.Namespace, m.Resource.Plural, m.Reason)
		if m.Partly {
			s += " partly"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestRead(t *testing.T) {
	teams := func(context.Context) ([]string, error) { return []string{"b", "a", "b", ""}, nil }
	queues := answers{"": errForbidden}.kind(kinds.ClusterQueue)
	queues.Names = func(context.Context) ([]string, error) { return nil, errFailed }
	for _, tt := range []struct {
		name       string
		kind       reader.Kind[string]
		namespaces func(context.Context) ([]string, error)
		want       string
		missing    string
		err        error
	}{
		{"whole list", answers{"": "x y"}.kind(kinds.Pod), teams, "x y", "", nil},
		{"not served", answers{"": errNotServed}.kind(kinds.Workload), teams, "", "list /workloads NotServed", errNotServed},
		{"failed", answers{"": errFailed, "a": "x"}.kind(kinds.Pod), teams, "", "list /pods Failed", errFailed},
		{"some namespaces", answers{"": errForbidden, "a": "x", "b": errForbidden}.kind(kinds.Pod), teams, "x", "list /pods Forbidden partly, list b/pods Forbidden", nil},
		{"not in a file of one namespace", answers{"": errElsewhere, "a": "x", "b": errElsewhere}.kind(kinds.Pod), teams, "x", "list /pods NotInFile partly, list b/pods NotInFile", nil},
		{"no such kind in the file", answers{"": errNotInFile}.kind(kinds.Pod), func(context.Context) ([]string, error) {
			t.Error("no namespace of the file has pods, but its namespaces were requested")
			return nil, nil
		}, "", "list /pods NotInFile", errNotInFile},
		{"no fallback", answers{"": errForbidden}.kind(kinds.Pod), nil, "", "list /pods Forbidden", errForbidden},
		{"namespaces forbidden", answers{"": errForbidden}.kind(kinds.Pod), func(context.Context) ([]string, error) { return nil, errForbidden }, "", "list /pods Forbidden", errForbidden},
		{"namespaces failed", answers{"": errForbidden}.kind(kinds.Pod), func(context.Context) ([]string, error) { return nil, errFailed }, "", "list /namespaces Failed, list /pods Forbidden", errFailed},
		{"cluster-scoped", answers{"": errForbidden}.kind(kinds.Node), teams, "", "list /nodes Forbidden", errForbidden},
		{"by name", answers{"": errForbidden, "b": errNotFound, "c": errForbidden, "d": errFailed}.kind(kinds.ClusterQueue, "d", "c", "b", "a", "a"), nil, "a", "list /clusterqueues Forbidden partly, get /clusterqueues Failed partly", nil},
		{"names failed", queues, nil, "", "list /clusterqueues Forbidden, list /clusterqueues Failed", errFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := reader.New(reader.Options{Namespaces: tt.namespaces})
			got := strings.Join(reader.Read(t.Context(), r, tt.kind), " ")
			// Parts of one kind fail in any order.
			parts := strings.Split(missing(r), ", ")
			want := strings.Split(tt.missing, ", ")
			slices.Sort(parts)
			slices.Sort(want)
			for i := range parts { // a part that came before the failure does not mark it
				if strings.HasPrefix(parts[i], "get ") {
					parts[i] = strings.TrimSuffix(parts[i], " partly")
					want[i] = strings.TrimSuffix(want[i], " partly")
				}
			}
			if got != tt.want || !slices.Equal(parts, want) || !errors.Is(r.Err(), tt.err) {
				t.Errorf("got %q, missing %q, error %v", got, missing(r), r.Err())
			}
		})
	}
}

// A request for one namespace has no fallback.
func TestReadOneNamespace(t *testing.T) {
	r := reader.New(reader.Options{Namespaces: func(context.Context) ([]string, error) { t.Error("asked"); return nil, nil }})
	k := answers{"n": errForbidden}.kind(kinds.Pod)
	k.Namespace = "n"
	if got := reader.Read(t.Context(), r, k); got != nil || missing(r) != "list n/pods Forbidden" || r.Refused(kinds.Pod) {
		t.Errorf("got %v, missing %s", got, missing(r))
	}
}

// The namespaces are looked up once, and at most Parallel requests are open.
func TestReadInParallel(t *testing.T) {
	lookups, open, most := 0, atomic.Int32{}, atomic.Int32{}
	r := reader.New(reader.Options{Parallel: 2, Namespaces: func(context.Context) ([]string, error) {
		lookups++
		return strings.Fields("a b c d e f"), nil
	}})
	var wg sync.WaitGroup
	for _, res := range []kinds.Resource{kinds.Pod, kinds.Event, kinds.Workload} {
		wg.Go(func() {
			reader.Read(t.Context(), r, reader.Kind[string]{Resource: res, List: func(_ context.Context, ns string) ([]string, error) {
				n := open.Add(1)
				defer open.Add(-1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				if ns == "" {
					return nil, errForbidden
				}
				return []string{ns}, nil
			}})
		})
	}
	wg.Wait()
	if lookups != 1 || most.Load() > 2 || len(r.Fallback()) != 6 || r.Err() != nil {
		t.Errorf("%d lookups, %d open, fallback %v, error %v", lookups, most.Load(), r.Fallback(), r.Err())
	}
}

func TestWorst(t *testing.T) {
	m := func(r kinds.Resource, err error) reader.Missing { return reader.NewMissing(r, "", "list", err) }
	for _, tt := range []struct {
		missing []reader.Missing
		want    error
	}{
		{nil, nil},
		{[]reader.Missing{m(kinds.Pod, errNotServed), m(kinds.Node, errForbidden), m(kinds.Workload, errFailed)}, errFailed},
		{[]reader.Missing{m(kinds.Pod, errNotServed), m(kinds.Node, errForbidden)}, errForbidden},
		{[]reader.Missing{m(kinds.Resource{Plural: "others"}, errNotInFile)}, errNotInFile},
	} {
		if got := reader.Worst(tt.missing); got != tt.want {
			t.Errorf("%v: got %v", tt.missing, got)
		}
	}
}
