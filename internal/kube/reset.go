package kube

import (
	"errors"
	"syscall"
)

// The numbers Windows gives to connections that are reset and refused. Go's own
// names stand for other numbers there.
const (
	wsaReset   = syscall.Errno(10054)
	wsaRefused = syscall.Errno(10061)
)

// isReset reports a connection that the other side cut.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, wsaReset)
}

// isRefused reports an address where nothing listens.
func isRefused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, wsaRefused)
}
