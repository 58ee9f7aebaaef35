package cli

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// guarded runs a command and makes an error of a panic.
func guarded(version string, run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = internalError(version, p, string(debug.Stack()))
		}
	}()
	return run()
}

// internalError returns the error about a fault of this program: what happened and where,
// and how to report it. --debug prints the stack.
func internalError(version string, what any, stack string) error {
	return errs.New("internal error", fmt.Sprint(what)).
		WithFact("at", placeOf(stack)).
		WithFact("version", fmt.Sprintf("%s, %s/%s", version, runtime.GOOS, runtime.GOARCH)).
		WithAdvice("report this as a bug, with the output of the same command with --debug").
		WithCause(fmt.Errorf("%s", strings.TrimSpace(stack)))
}

// frame finds the lines of a stack that name a place in this program.
var frame = pattern.Lazy(`(?m)^\t(\S*/internal/\S+\.go:\d+)`)

// placeOf returns the innermost place of a stack in this program, below the panic.
func placeOf(stack string) string {
	if _, below, ok := strings.Cut(stack, "\npanic("); ok {
		stack = below
	}
	m := frame().FindStringSubmatch(stack)
	if m == nil {
		return "unknown"
	}
	path := filepath.ToSlash(m[1])
	return path[strings.LastIndex(path, "/internal/")+1:]
}
