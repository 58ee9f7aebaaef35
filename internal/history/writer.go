package history

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/bounded"
)

// The names of files: a segment that is written, one that is complete, and the lock of the writer.
const (
	extension   = ".seg"
	packed      = extension + ".gz"
	lockName    = "recorder.lock"
	nameLayout  = "20060102T150405Z"
	maxSegment  = 16 << 20
	mostBytes   = bounded.Object // the limit for reading a segment: the last sample can exceed maxSegment
	folderMode  = 0o700
	segmentMode = 0o600
)

// ErrLocked is the error of a store that another process writes.
var ErrLocked = errors.New("another recorder writes this store")

// OtherClusterError is the error of a store of another cluster.
type OtherClusterError struct{ Cluster string }

func (e *OtherClusterError) Error() string { return fmt.Sprintf("the store belongs to %s", e.Cluster) }

// Options are how a store is written.
type Options struct {
	// Cluster names what is recorded: the address of the API server. A store has one.
	Cluster string
	// Pace is the time between samples.
	Pace time.Duration
	// Retain is how long samples are kept; 0 is forever.
	Retain time.Duration
	// wrap changes the file that is written; tests fill the disk with it.
	wrap func(*os.File) file
}

// file is what the writer needs of a file.
type file interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

// Writer appends samples to a store. Its methods are for one goroutine.
type Writer struct {
	dir     string
	o       Options
	release func()
	live    *live
	f       file // nil: the next sample begins a segment
	path    string
	size    int64
	day     string
}

// Open opens a store for writing, and creates it where it does not exist. It repairs what a crash left.
func Open(dir string, o Options) (*Writer, error) {
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return nil, err
	}
	release, err := atomicfile.Exclusive(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, o: o, release: release, live: newLive()}
	if w.o.wrap == nil {
		w.o.wrap = func(f *os.File) file { return f }
	}
	if err := w.resume(); err != nil {
		release()
		return nil, err
	}
	return w, nil
}

// Last returns when the last sample was taken, the zero time where there is none.
func (w *Writer) Last() time.Time { return w.live.time }

// Close ends writing. What was appended is already on the disk.
func (w *Writer) Close() error {
	defer w.release()
	return w.close()
}

func (w *Writer) close() error {
	if w.f == nil {
		return nil
	}
	f := w.f
	w.f = nil
	return f.Close()
}

// resume restores what is known from the last segment that can be read, cuts a torn line off it, packs segments that
// are complete, and removes files of no use.
func (w *Writer) resume() error {
	list, err := segments(w.dir)
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.plain && s.packed { // a crash between packing and removing
			if err := os.Remove(filepath.Join(w.dir, s.name+extension)); err != nil {
				return err
			}
		}
	}
	for i := len(list) - 1; i >= 0; i-- {
		s := list[i]
		path, data, err := s.read(w.dir)
		if err != nil {
			return err
		}
		seg, err := parse(path, data)
		if err != nil {
			return err
		}
		if seg.Format == 0 || len(seg.lines) == 0 {
			if s.plain && !s.packed && i == len(list)-1 && torn(data) { // a crash while it was created
				if err := os.Remove(path); err != nil {
					return err
				}
			}
			continue
		}
		if seg.Cluster != w.o.Cluster {
			return &OtherClusterError{seg.Cluster}
		}
		kept := keeper{}
		for n, l := range seg.lines {
			w.live.apply(l, n == 0, kept)
		}
		if i == len(list)-1 && s.plain && !s.packed {
			return w.goOn(path, s.name, seg, data)
		}
		return nil
	}
	return nil
}

// torn reports a segment that a crash cut off in its header or its first sample. Another segment that cannot be read is damaged.
func torn(data []byte) bool {
	_, rest, header := bytes.Cut(data, []byte("\n"))
	return !header || !bytes.Contains(rest, []byte("\n"))
}

// goOn continues the segment of a recorder that ended. One that is damaged in the middle stays as it is.
func (w *Writer) goOn(path, name string, s segment, data []byte) error {
	torn := bytes.Count(data[s.good:], []byte("\n"))
	if !s.whole && (torn > 1 || torn == 1 && data[len(data)-1] != '\n') {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, segmentMode)
	if err != nil {
		return err
	}
	if !s.whole {
		if err := f.Truncate(int64(s.good)); err != nil {
			_ = f.Close()
			return err
		}
	}
	w.f, w.path, w.size, w.day = w.o.wrap(f), path, int64(s.good), name[:len("20060102")]
	return nil
}

// Append adds a sample. It is on the disk when Append returns nil. After an error the store is as before, and the next
// sample has everything since the last one. Append ignores an observation that is not at least a second after the
// last sample, as when a clock was set back, and reports that with false.
func (w *Writer) Append(o Observation) (bool, error) {
	o.Time = o.Time.UTC().Truncate(time.Second)
	if !w.live.time.IsZero() && !o.Time.After(w.live.time) {
		return false, nil
	}
	day := o.Time.Format("20060102")
	whole := w.f == nil || w.day != day || w.size > maxSegment
	l, after := w.live.next(o, whole)
	l.Pace = int64(w.o.Pace / time.Second)
	text := l.encode()
	var err error
	if whole {
		err = w.begin(o.Time, day, text)
	} else {
		err = w.add(text)
	}
	if err != nil {
		return false, err
	}
	w.live = after
	if whole {
		return true, w.tidy(o.Time)
	}
	return true, nil
}

// add appends to the segment, all or nothing.
func (w *Writer) add(text []byte) error {
	_, err := w.f.Write(text)
	if err == nil {
		err = w.f.Sync()
	}
	if err == nil {
		w.size += int64(len(text))
		return nil
	}
	if w.f.Truncate(w.size) != nil {
		// The torn line is cut off when the store is opened again; go on in a new segment.
		_ = w.close()
	}
	return err
}

// begin starts a segment with its first sample.
func (w *Writer) begin(at time.Time, day string, text []byte) error {
	head, err := header{Format, w.o.Cluster}.encode()
	if err != nil {
		return err
	}
	path := filepath.Join(w.dir, at.Format(nameLayout)+extension)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, segmentMode)
	if err != nil {
		return err
	}
	out := w.o.wrap(f)
	if _, err = out.Write(append(head, text...)); err == nil {
		err = out.Sync()
	}
	if err != nil {
		_ = out.Close()
		_ = os.Remove(path)
		return err
	}
	if d, err := os.Open(w.dir); err == nil { // the name must survive a crash too
		_ = d.Sync()
		_ = d.Close()
	}
	_ = w.close()
	w.f, w.path, w.size, w.day = out, path, int64(len(head)+len(text)), day
	return nil
}

// tidy packs complete segments and removes those that are too old.
func (w *Writer) tidy(now time.Time) error {
	list, err := segments(w.dir)
	if err != nil {
		return err
	}
	for i, s := range list[:max(0, len(list)-1)] {
		if w.o.Retain > 0 && !list[i+1].start.After(now.Add(-w.o.Retain)) {
			if err := s.remove(w.dir); err != nil {
				return err
			}
			continue
		}
		if s.plain && !s.packed {
			if err := s.pack(w.dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// stored is a segment in the folder.
type stored struct {
	name          string
	start         time.Time
	plain, packed bool
}

// segments lists the segments of a store, oldest first.
func segments(dir string) ([]stored, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []stored
	for _, e := range entries {
		name, isPacked := strings.CutSuffix(e.Name(), packed)
		if !isPacked {
			var ok bool
			if name, ok = strings.CutSuffix(e.Name(), extension); !ok {
				continue
			}
		}
		start, err := time.Parse(nameLayout, name)
		if err != nil {
			continue
		}
		if n := len(out); n > 0 && out[n-1].name == name {
			out[n-1].plain, out[n-1].packed = true, true
			continue
		}
		out = append(out, stored{name, start, !isPacked, isPacked})
	}
	slices.SortFunc(out, func(a, b stored) int { return a.start.Compare(b.start) })
	return out, nil
}

// read returns the content. A plain segment may be packed at this moment.
func (s stored) read(dir string) (path string, data []byte, err error) {
	path = filepath.Join(dir, s.name+extension)
	if !s.packed {
		data, err = bounded.File(path, mostBytes)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return path, data, err
		}
	}
	path = filepath.Join(dir, s.name+packed)
	f, err := os.Open(path)
	if err != nil {
		return path, nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return path, nil, nil // damaged: without a header
	}
	var all bytes.Buffer
	all.Grow(unpackedSize(f))
	_, err = all.ReadFrom(bounded.NewReader(z, mostBytes))
	if errors.As(err, new(*bounded.TooLarge)) {
		return path, nil, fmt.Errorf("%s is %w", path, err)
	}
	return path, all.Bytes(), nil // what could be read; checksums find the end
}

// unpackedSize is the size that a packed segment gives for its content, up to a limit. gzip puts it at the end.
func unpackedSize(f *os.File) int {
	var last [4]byte
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	if _, err := f.ReadAt(last[:], info.Size()-int64(len(last))); err != nil {
		return 0
	}
	return int(min(binary.LittleEndian.Uint32(last[:]), 2*maxSegment)) + bytes.MinRead
}

// pack compresses a complete segment.
func (s stored) pack(dir string) error {
	path := filepath.Join(dir, s.name+extension)
	data, err := bounded.File(path, mostBytes)
	if err != nil {
		return err
	}
	if _, err := atomicfile.Write(filepath.Join(dir, s.name+packed), func(f *os.File) error {
		z := gzip.NewWriter(f)
		if _, err := z.Write(data); err != nil {
			return err
		}
		return z.Close()
	}); err != nil {
		return err
	}
	return os.Remove(path)
}

func (s stored) remove(dir string) error {
	var err error
	if s.plain {
		err = os.Remove(filepath.Join(dir, s.name+extension))
	}
	if s.packed && err == nil {
		err = os.Remove(filepath.Join(dir, s.name+packed))
	}
	return err
}
