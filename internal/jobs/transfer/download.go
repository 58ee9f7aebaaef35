package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/tarball"
)

// Download is a copy from a pod.
type Download struct {
	Pod
	From     string
	To       tarball.Unpacking // Base is set by Run
	Progress *Progress
}

// received is the archive as it arrives: its length and hash so far.
type received struct {
	to   io.Writer
	n    int64
	zero int64 // zero bytes at its end
	sum  hash.Hash
	done *Progress
}

func (r *received) Write(p []byte) (int, error) {
	n, err := r.to.Write(p)
	r.n += int64(n)
	if end := bytes.TrimRight(p[:n], "\x00"); len(end) > 0 {
		r.zero = int64(n - len(end))
	} else {
		r.zero += int64(n)
	}
	r.sum.Write(p[:n])
	r.done.done.Add(int64(n))
	return n, err
}

// Copy copies. The archive of the pod's tar is unpacked as it arrives. After a lost
// connection the pod makes the archive again; if its beginning has the same hash, the
// rest is sent.
func (d Download) Copy(ctx context.Context) (tarball.Counts, error) {
	dir, base := split(d.From)
	d.To.Base = base
	begun := d.To.Begun
	d.To.Begun = func(name string, size int64) {
		d.Progress.total.Add(size)
		begun(name, size)
	}
	type result struct {
		counts tarball.Counts
		err    error
	}
	from, to := io.Pipe()
	unpacked := make(chan result, 1)
	crash.Go(func() {
		counts, err := tarball.Unpack(from, d.To)
		from.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		unpacked <- result{counts, err}
	})
	in := &received{to: to, sum: sha256.New(), done: d.Progress}
	err := d.receive(ctx, in, dir, "./"+base)
	to.CloseWithError(err) // nil is the end of the archive
	r := <-unpacked
	var outside *tarball.OutsideError
	switch {
	case errors.As(r.err, &outside), err == nil:
		return r.counts, r.err
	case errors.Is(err, io.ErrClosedPipe) && r.err != nil: // it could not be written
		return r.counts, r.err
	}
	return r.counts, err
}

// receive gets the archive, in as many attempts as it takes.
func (d Download) receive(ctx context.Context, in *received, dir, base string) error {
	for try, before := 0, int64(0); ; try++ {
		command := []string{"tar", "cf", "-", "-C", dir, base}
		if in.n > 0 {
			switch same, err := d.same(ctx, in, dir, base); {
			case err != nil:
				if try, err = d.again(ctx, try, &before, in.n, err); err != nil {
					return err
				}
				continue
			case !same:
				return ErrChanged
			}
			command = script(`tar cf - -C "$1" "$2" | tail -c "+$3"`, dir, base, strconv.FormatInt(in.n+1, 10))
		}
		var message tail
		code, err := d.Run(ctx, command, nil, in, &message)
		switch {
		case err == nil && code != 0:
			return &CommandError{Command: "tar", Code: code, Message: message.text()}
		case err == nil && in.complete():
			return nil
		case err == nil:
			err = io.ErrUnexpectedEOF // the end of a connection can look like that of the command
		}
		if try, err = d.again(ctx, try, &before, in.n, err); err != nil {
			return err
		}
	}
}

// again waits before the next attempt, or returns the error if there is none.
func (d Download) again(ctx context.Context, try int, before *int64, now int64, cause error) (int, error) {
	if now > *before {
		try, *before = 0, now
	}
	if ctx.Err() != nil || !errors.Is(cause, io.ErrUnexpectedEOF) && !d.Lost(cause) || try >= attempts {
		return try, cause
	}
	return try, d.backoff(ctx, try, cause)
}

// complete reports whether the archive has ended: with two blocks of zeros.
func (r *received) complete() bool { return r.zero >= 2*512 }

// same reports whether the pod's archive begins as the one that was received.
func (d Download) same(ctx context.Context, in *received, dir, base string) (bool, error) {
	out, code, err := d.answer(ctx, script(`tar cf - -C "$1" "$2" | head -c "$3" | sha256sum`, dir, base, strconv.FormatInt(in.n, 10))...)
	if err != nil {
		return false, err
	}
	if code != 0 {
		return false, &CommandError{Command: "sha256sum", Code: code, Message: out}
	}
	return strings.HasPrefix(out, hex.EncodeToString(in.sum.Sum(nil))), nil
}
