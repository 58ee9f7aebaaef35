package remedy

import (
	"context"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// permit notes whether commands can make the change to the existing job, and a
// permission that the user lacks for it.
func (f *finder) permit(ctx context.Context, r *Remedy) {
	e := f.Existing
	if e == nil {
		return
	}
	may := func(verb string, k kinds.Resource, namespace string) bool {
		if f.May == nil || f.May(ctx, verb, k, namespace) || verb == "patch" && f.May(ctx, "update", k, namespace) {
			return true // patch-job replaces what it cannot patch
		}
		r.Denied = &Permission{verb, k.Plural, namespace}
		return false
	}
	replaces := func(namespace string) bool {
		return !e.Together && f.Make != nil && may("delete", e.Resource, e.Namespace) && may("create", e.Resource, namespace)
	}
	switch r.Code {
	case HigherPriority:
		r.Possible = may("patch", e.Resource, e.Namespace)
	case FewerNodes, OtherInstanceType:
		r.Possible = len(r.Options) > 0 && replaces(e.Namespace)
	case OtherQueue:
		r.Possible = replaces(r.Namespace)
	case JobsEnd:
		for _, h := range r.Jobs {
			k, _ := kinds.JobNamed(h.Kind)
			if h.cancellable(e.Namespace) && !slices.Contains(r.Own, h.Name) && may("delete", k.Resource, e.Namespace) {
				r.Own = append(r.Own, h.Name)
			}
		}
		r.Possible = len(r.Own) > 0
	}
}
