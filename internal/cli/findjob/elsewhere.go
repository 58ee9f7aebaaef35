package findjob

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// named is a job by its namespace and name.
type named struct {
	Metadata struct {
		Namespace string            `json:"namespace"`
		Name      string            `json:"name"`
		Labels    map[string]string `json:"labels"`
	} `json:"metadata"`
}

// hint adds to the error about a job that was not found the pods of a pod group with that name, else where a job of that name
// is, else near names in the namespace, as far as the jobs can be listed.
func hint(ctx context.Context, c *factory.Cluster, served []kinds.Job, name, namespace string, e *errs.Error) {
	var mu sync.Mutex
	var names, others, members []string
	var wg crash.Group
	for _, k := range served {
		wg.Go(func() {
			list := func(in string) error {
				page, err := kube.List[named](ctx, c.Client, k.Resource, in, kube.ListOptions{MetadataOnly: true, LabelSelector: k.Selector})
				mu.Lock()
				defer mu.Unlock()
				for _, j := range page.Items {
					switch {
					case j.Metadata.Namespace == namespace:
						names = append(names, j.Metadata.Name)
						if j.Metadata.Labels[kinds.PodGroupName] == name {
							members = append(members, j.Metadata.Name)
						}
					case j.Metadata.Name == name:
						others = append(others, j.Metadata.Namespace)
					}
				}
				return err
			}
			if kube.IsForbidden(list("")) {
				_ = list(namespace)
			}
		})
	}
	wg.Wait()
	if slices.Sort(members); len(members) > 0 {
		e.WithFact("pods", words.Some(members, 8)).WithAdvice(name + " is a pod group: name one of its pods")
		return
	}
	slices.Sort(others)
	if others = slices.Compact(others); len(others) > 0 {
		e.WithFact("found in", words.Some(others, 8)).Try = []errs.Suggestion{suggest.Namespace(others[0])}
		return
	}
	if near := errs.Near(name, names); len(near) > 0 {
		e.WithFact("did you mean", strings.Join(near, ", "))
	}
}
