// Package api implements the Kubernetes API over HTTP for the sandbox: routing, verbs,
// patches, watches, discovery, tables, and errors in the words of an API server. Package
// store holds the objects, and the Backend runs the controllers.
package api

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// Backend is the storage behind the API.
type Backend interface {
	// View calls f with a consistent state. f must not change it.
	View(ctx context.Context, f func(*store.Store) error) error
	// Update calls f with a state that f can change. If f returns nil, Update runs the
	// controllers and saves everything. On an error and in a dry run, it discards the
	// change. It returns warnings for the user.
	Update(ctx context.Context, dryRun bool, f func(*store.Store) error) (warnings []string, err error)
	// Wait returns when the state is newer than rv, after about 10 seconds, or with
	// ctx's error.
	Wait(ctx context.Context, rv int64) error
	// Now returns the sandbox's time.
	Now() time.Time
}

// Annotations of the sandbox.
const (
	// AgoAnnotation holds the age of a scenario's object as a Go duration. Only Create
	// reads it.
	AgoAnnotation = "cli.hyperpod/sandbox-ago"
)
