//go:build !windows

package execcmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// sizeChanges tells that the terminal's size may have changed.
func sizeChanges(ctx context.Context) <-chan os.Signal {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGWINCH)
	context.AfterFunc(ctx, func() { signal.Stop(ch) })
	return ch
}
