package kube

import (
	"errors"
	"syscall"
)

// isReset reports a connection that the other side cut.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
