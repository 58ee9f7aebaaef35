package admissioncheck

import (
	"context"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// mostGets is the number of jobs of a kind that are read one by one; more of them take
// one list.
const mostGets = 10

// owned is the part of a job that names its owner.
type owned struct {
	Metadata struct {
		Name        string            `json:"name"`
		Namespace   string            `json:"namespace"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
}

type jobKey struct{ kind, namespace, name string }

// Creators remembers who created the jobs that were read. Its zero value is ready.
type Creators struct {
	mu sync.Mutex
	of map[jobKey]string
	// all has the kinds whose jobs were all read.
	all map[string]bool
}

// noteAll notes that all jobs of a kind were read.
func (r *Creators) noteAll(kind string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]bool{}
	}
	r.all[kind] = true
}

func (r *Creators) note(job jobKey, creator string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[jobKey]string{}
	}
	r.of[job] = creator
}

// known returns who created a job, and whether the job was read or does not exist.
func (r *Creators) known(job jobKey) (string, bool) {
	if r == nil {
		return "", false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	creator, read := r.of[job]
	return creator, read || r.all[job.kind]
}

// Owners fills in who created the holders of a verdict and the jobs of its remedies, as
// far as the jobs can be read. It does not read those that read has.
func Owners(ctx context.Context, c *factory.Cluster, v *check.Verdict, read *Creators) {
	all := []*remedy.Holder{}
	for i := range v.Holders {
		all = append(all, &v.Holders[i])
	}
	for _, r := range v.Remedies {
		for i := range r.Jobs {
			all = append(all, &r.Jobs[i])
		}
	}
	of := func(h *remedy.Holder) jobKey { return jobKey{h.Kind, h.Namespace, h.Name} }
	wanted := map[string]map[jobKey]bool{} // by kind
	for _, h := range all {
		if _, known := kinds.JobNamed(h.Kind); h.Owner != "" || h.Hidden || h.Kind == "" || !known {
			continue
		}
		if creator, already := read.known(of(h)); already {
			h.Owner = creator
			continue
		}
		if wanted[h.Kind] == nil {
			wanted[h.Kind] = map[jobKey]bool{}
		}
		wanted[h.Kind][of(h)] = true
	}
	owners := readOwners(ctx, c, wanted)
	for _, h := range all {
		if owner := owners[of(h)]; owner != "" {
			h.Owner = owner
		}
	}
}

// readOwners reads the owners of jobs. What cannot be read has none.
func readOwners(ctx context.Context, c *factory.Cluster, wanted map[string]map[jobKey]bool) map[jobKey]string {
	owners := map[jobKey]string{}
	var mu sync.Mutex
	note := func(kind string, o *owned) {
		mu.Lock()
		defer mu.Unlock()
		owners[jobKey{kind, o.Metadata.Namespace, o.Metadata.Name}] = jobs.Creator(o.Metadata.Labels, o.Metadata.Annotations)
	}
	var wg crash.Group
	for name, keys := range wanted {
		k, _ := kinds.JobNamed(name)
		list := func(namespace string) error {
			page, err := kube.List[owned](ctx, c.Client, k.Resource, namespace, kube.ListOptions{})
			for i := range page.Items {
				note(name, &page.Items[i])
			}
			return err
		}
		if len(keys) <= mostGets {
			for key := range keys {
				wg.Go(func() {
					var o owned
					if c.Get(ctx, k.Resource, key.namespace, key.name, &o) == nil {
						o.Metadata.Namespace, o.Metadata.Name = key.namespace, key.name
						note(name, &o)
					}
				})
			}
			continue
		}
		wg.Go(func() {
			if !kube.IsForbidden(list("")) {
				return
			}
			read := map[string]bool{}
			for key := range keys {
				if !read[key.namespace] {
					read[key.namespace] = true
					if err := list(key.namespace); err != nil && !kube.IsForbidden(err) {
						return // the cluster does not answer
					}
				}
			}
		})
	}
	wg.Wait()
	return owners
}
