package order

import (
	"context"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Reader reads the rules of a cluster, at most once, and only when the order of the
// workloads depends on them. Its zero value is ready; it may be used by several
// goroutines.
type Reader struct {
	mu    sync.Mutex
	read  bool
	rules Rules
}

// Rules returns the rules by which the workloads are ordered: Kueue's default where
// the configuration cannot be read, because few users have permission to read it.
func (r *Reader) Rules(ctx context.Context, c *kube.Client, waiting []state.Workload) Rules {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read || !depends(waiting) {
		return r.rules
	}
	r.read = true
	if config, err := state.GetManagerConfig(ctx, c); err == nil {
		if rules, err := Parse(config.Text); err == nil {
			r.rules = rules
		}
	}
	return r.rules
}
