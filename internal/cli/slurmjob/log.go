package slurmjob

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/present/slurmtext"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
)

// Log reads the file to which a job writes its output.
type Log struct {
	Client *client.Client
	Now    func() time.Time
	// Query has which lines to read, and whether to follow.
	Query logs.Query
	Sink  logs.Sink
}

// Sizes of a read, and of the longest line that is kept in one piece.
const (
	chunk       = 64 << 10
	longestLine = 1 << 20
)

// tail is an open log: what comes next, and what is not a whole line yet.
type tail struct {
	Log
	source logs.Source
	file   *os.File
	at     int64
	line   []byte
	rest   bool // line continues one that was handed on in parts
	match  bool // that one has to be printed
}

// Read prints the log. With Follow it waits for the file, and ends when the job has ended and
// the file has been read. It returns the last that was seen of the job.
func (l Log) Read(ctx context.Context, j Job) (Job, error) {
	d, err := l.Client.Details(ctx, j.Slurm.ID)
	if err != nil && !client.Is(err, client.UnknownJob) {
		return j, slurmtext.Error("cannot read job "+j.Slurm.ID, err)
	}
	path := j.Slurm.OutputFile(d.StdOut)
	if path == "" {
		path = remembered(j)
	}
	if path == "" {
		return j, ErrForgotten
	}
	t := &tail{Log: l, source: logs.Source{Pod: j.Slurm.Number(), Container: "batch", Rank: -1}}
	defer t.close()
	if !l.Query.Follow {
		if err := t.open(path); err != nil {
			return j, err
		}
		return j, errors.Join(t.read(ctx), t.flush())
	}
	last := j
	err = t.follow(ctx, path, &last)
	return last, err
}

// ErrForgotten is a job whose file nobody knows any more.
var ErrForgotten = errors.New("slurm no longer knows the file")

// remembered returns the file of a job that the controller has forgotten, where it has a usual name; else "".
func remembered(j Job) string {
	for _, path := range j.Slurm.LikelyOutputs() {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// follow reads until the job has ended. The job is read less often than the file.
func (t *tail) follow(ctx context.Context, path string, last *Job) error {
	looks, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := false
	return Follow(looks, t.Client, *last, t.Now, func(j Job) (bool, error) {
		if changed := j.Status.State != last.Status.State; changed {
			if err := t.Sink.Event(logs.Event{Kind: logs.Changed, Status: j.Status}); err != nil {
				return false, err
			}
		}
		*last = j
		ended = j.Status.State.Finished()
		if t.file == nil {
			err := t.open(path)
			switch {
			case err != nil && (!errors.Is(err, fs.ErrNotExist) || ended || j.Status.State == jobs.Running && t.Now().Sub(j.Status.Since) > patience):
				return false, err
			case err != nil:
				return true, t.Sink.Event(logs.Event{Kind: logs.Waiting, Status: j.Status})
			}
		}
		if err := t.read(ctx); err != nil {
			return false, err
		}
		if ended {
			return false, t.flush()
		}
		return true, nil
	})
}

// patience is how long a running job may have no file: file systems that nodes share show
// a new file late.
const patience = 30 * time.Second

// open opens the file. Only a file has a size and an end.
func (t *tail) open(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("not a file")}
	}
	if err == nil && t.Query.Tail != nil {
		t.at, err = lastLines(f, info.Size(), *t.Query.Tail)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	t.file = f
	return nil
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close()
	}
}

// read hands on the lines up to the end of the file. A file that became shorter starts again: Slurm does that
// when it requeues a job.
func (t *tail) read(ctx context.Context) error {
	if info, err := t.file.Stat(); err == nil && info.Size() < t.at {
		t.at, t.line, t.rest = 0, nil, false
	}
	buffer := make([]byte, chunk)
	for ctx.Err() == nil {
		n, err := t.file.ReadAt(buffer, t.at)
		t.at += int64(n)
		if handed := t.lines(buffer[:n]); handed != nil {
			return handed
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// lines hands on the whole lines, and the beginning of one that is too long to wait for.
func (t *tail) lines(data []byte) error {
	var out []logs.Line
	for len(data) > 0 {
		part, after, whole := bytes.Cut(data, []byte("\n"))
		t.line = append(t.line, part...)
		if !whole && len(t.line) < longestLine {
			break
		}
		if l, ok := t.next(!whole); ok {
			out = append(out, l)
		}
		data = after
	}
	if len(out) == 0 {
		return nil
	}
	return t.Sink.Lines(&t.source, out)
}

// next takes the line that was collected. more: another part of it follows.
func (t *tail) next(more bool) (logs.Line, bool) {
	if !t.rest {
		t.match = t.Query.Match == nil || t.Query.Match.Match(t.line)
	}
	l := logs.Line{Text: slices.Clone(t.line), Rest: t.rest, More: more}
	t.line, t.rest = t.line[:0], more
	return l, t.match
}

// flush hands on a last line without an end.
func (t *tail) flush() error {
	if len(t.line) == 0 && !t.rest {
		return nil
	}
	if l, ok := t.next(false); ok {
		return t.Sink.Lines(&t.source, []logs.Line{l})
	}
	return nil
}

// lastLines returns where the last n lines of a file begin.
func lastLines(f io.ReaderAt, size, n int64) (int64, error) {
	if n == 0 {
		return size, nil
	}
	buffer := make([]byte, chunk)
	found := int64(0)
	for end := size; end > 0; {
		begin := max(end-chunk, 0)
		part := buffer[:end-begin]
		if _, err := f.ReadAt(part, begin); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for i := len(part) - 1; i >= 0; i-- {
			if part[i] != '\n' || begin+int64(i) == size-1 {
				continue
			}
			if found++; found == n {
				return begin + int64(i) + 1, nil
			}
		}
		end = begin
	}
	return 0, nil
}
