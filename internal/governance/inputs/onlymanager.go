package inputs

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// LoadManager reads only Kueue's configuration and version: two requests. Rules and
// Engine of the result have the notes about them.
func LoadManager(ctx context.Context, c *kube.Client, now time.Time) *Inputs {
	l := &loader{c: c, r: reader.New(reader.Options{}), out: &Inputs{Taken: now}}
	l.manager(ctx)
	return l.out
}
