package snapshot

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Write writes the snapshot as text: a header, then one object a line, kinds and
// keys sorted. Reading relies on the lines for speed only.
func (s *Snapshot) Write(w io.Writer) error {
	info := s.Info
	info.Kind, info.Format = fileKind, fileFormat
	head, err := json.MarshalIndent(info, "", " ")
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	b.Write(bytes.TrimSuffix(head, []byte("\n}")))
	b.WriteString(",\n" + objectsLine)
	first := true
	for _, r := range slices.Sorted(maps.Keys(s.raw)) {
		if len(s.raw[r]) == 0 {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		fmt.Fprintf(b, "\n  %q: [", r)
		for i, raw := range s.raw[r] {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n   ")
			b.Write(raw)
		}
		b.WriteString("\n  ]")
	}
	b.WriteString("\n }\n}\n")
	return b.Flush()
}

// objectsLine begins the objects in the file.
const objectsLine = ` "objects": {`

// SaveOptions say how a file is written.
type SaveOptions struct {
	// Force replaces a file that is not a snapshot.
	Force bool
}

// Save writes the snapshot to a file that only its owner can read, in one step. If the name ends in .gz, the
// file is compressed. Save replaces an older snapshot of that name, and any other file only with Force. It
// returns the size in bytes.
func (s *Snapshot) Save(path string, o SaveOptions) (int64, error) {
	if err := mayReplace(path, o.Force); err != nil {
		return 0, err
	}
	info, err := atomicfile.Write(path, func(f *os.File) error {
		if !strings.HasSuffix(path, ".gz") {
			return s.Write(f)
		}
		z := gzip.NewWriter(f)
		return errors.Join(s.Write(z), z.Close())
	})
	if err != nil {
		return 0, errs.New("cannot write the snapshot "+path, errs.FileReason(err)).WithCause(err)
	}
	s.Path = path
	return info.Size(), nil
}

// mayReplace refuses to replace what is not a snapshot.
func mayReplace(path string, force bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return errs.New("cannot write the snapshot "+path, errs.FileReason(err)).WithCause(err)
	case info.IsDir():
		return errs.Usagef("cannot write the snapshot %s: it is a directory", path).WithAdvice("give the name of a file")
	case !info.Mode().IsRegular():
		return errs.Usagef("cannot write the snapshot %s: it is not a regular file", path).WithAdvice("- instead of a file name writes to standard output")
	case force || info.Size() == 0:
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return errs.New("cannot replace "+path, errs.FileReason(err)).WithCause(err)
	}
	defer f.Close()
	if r, err := text(f); err == nil {
		head := make([]byte, 512)
		n, _ := io.ReadFull(r, head)
		if bytes.Contains(head[:n], []byte(`"kind": "`+fileKind+`"`)) {
			return nil
		}
	}
	return errs.New("cannot write the snapshot "+path, "the file exists and is not a snapshot").Suggest(suggest.Force()).WithAdvice("give another name, or replace it")
}

// text returns the file's text, uncompressed.
func text(f io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(f, 1<<16)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return gzip.NewReader(b)
	}
	return b, nil
}
