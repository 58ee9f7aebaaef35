//go:build !unix

package tarball

// nonBlocking is nothing where folders have no pipes.
const nonBlocking = 0
