// Package api speaks the Kubernetes API over HTTP for the sandbox: routing,
// verbs, patches, watches, discovery, tables and errors as an API server words
// them. It holds no objects (package store does) and runs no controllers (the
// Backend does).
package api

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// Backend is the storage behind the API.
type Backend interface {
	// View calls f with a consistent state that f must not change.
	View(ctx context.Context, f func(*store.Store) error) error
	// Update calls f with a state that it may change. When f returns nil the
	// controllers run and everything is saved; otherwise, and in a dry run,
	// nothing is kept. The warnings are for the user.
	Update(ctx context.Context, dryRun bool, f func(*store.Store) error) (warnings []string, err error)
	// Wait returns when the state is newer than rv, when a while has passed, or
	// with ctx's error.
	Wait(ctx context.Context, rv int64) error
	// Now is the sandbox's time.
	Now() time.Time
}

// Annotations of the sandbox's own.
const (
	// AgoAnnotation says how long before now an object is made to have been
	// created (a Go duration). It is only read when a scenario is laid out.
	AgoAnnotation = "cli.hyperpod/sandbox-ago"
)
