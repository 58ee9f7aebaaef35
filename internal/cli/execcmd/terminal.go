package execcmd

import (
	"context"
	"os"

	"golang.org/x/term"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// terminal runs a command on this process's terminal: the command gets every key,
// including Ctrl-C, and each change of size. The terminal's state is restored at the
// end.
func (o *Options) terminal(ctx context.Context, c *kube.Client, x kube.ExecOptions) error {
	f := o.Factory
	in, ok := f.IO.In.(*os.File)
	if !ok {
		return errs.New("cannot use the terminal", "stdin is not a terminal")
	}
	fd := int(in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return errs.Wrap(err, "cannot use the terminal")
	}
	ctx, cancel := context.WithCancel(ctx)
	x.TTY, x.Stdout, x.Stderr = true, f.IO.Out, nil
	x.Resize = resizes(ctx, fd)
	code, err := c.Exec(ctx, x)
	cancel()
	if restore := term.Restore(fd, before); err == nil && restore != nil {
		err = errs.Wrap(restore, "cannot restore the terminal; run `reset`")
	}
	return o.exit(code, err)
}

// resizes returns the sizes of a terminal: now, and after every change until ctx ends.
// It drops sizes that arrive faster than they are used.
func resizes(ctx context.Context, fd int) <-chan kube.TerminalSize {
	sizes := make(chan kube.TerminalSize, 1)
	changed := sizeChanges(ctx)
	crash.Go(func() {
		var last kube.TerminalSize
		for {
			if w, h, err := term.GetSize(fd); err == nil && w > 0 && h > 0 {
				if now := (kube.TerminalSize{Width: uint16(min(w, 1<<16-1)), Height: uint16(min(h, 1<<16-1))}); now != last {
					last = now
					select {
					case sizes <- now:
					case <-ctx.Done():
						return
					}
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	})
	return sizes
}
