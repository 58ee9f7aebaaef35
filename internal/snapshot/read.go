package snapshot

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

const (
	// maxText is how large a snapshot's text may be. A hundred thousand workloads
	// fit; a small compressed file that unfolds without end does not.
	maxText = 1 << 30
	// maxRatio is how much larger than a compressed file its text may be, where that is
	// more than maxSmall: snapshots reach about 50.
	maxRatio = 300
	maxSmall = 64 << 20
	// maxPlainYAML is how much YAML is parsed: it takes far longer than JSON.
	maxPlainYAML = 64 << 20
)

// Open reads a snapshot, or a file of plain Kubernetes objects. Errors are
// *errs.Error: the file does not exist (exit code 5); it cannot be read, is not a
// snapshot, is cut short, comes from a newer hyperpod or is too large (exit code 2).
func Open(path string) (*Snapshot, error) { return open(path, limits{maxText, maxPlainYAML}) }

// limits are the most bytes of text, and of plain YAML.
type limits struct{ text, yaml int64 }

func open(path string, most limits) (*Snapshot, error) {
	data, modified, err := readFile(path, most.text)
	if err != nil {
		return nil, err
	}
	s, err := parse(data)
	switch {
	case errors.Is(err, errNoSnapshot):
		s, err = plain(data, modified, most.yaml)
	case err == nil:
		err = s.quantities()
	}
	if err != nil {
		return nil, cannotOpen(path, err)
	}
	s.Path = path
	return s, nil
}

// cannotOpen names the file in an error about its content.
func cannotOpen(path string, err error) error {
	var e *errs.Error
	if errors.As(err, &e) {
		out := *e
		out.What, out.Why = "cannot use "+path, e.Error()
		return &out
	}
	return (&errs.Error{What: "cannot use " + path, Why: err.Error(), Code: errs.Usage}).WithCause(err)
}

func unusable(why string) *errs.Error { return &errs.Error{Why: why, Code: errs.Usage} }

// errNoSnapshot says that a file is not in the format of snapshots.
var errNoSnapshot = errors.New("not a snapshot")

func parse(data []byte) (*Snapshot, error) {
	if s := decodeLines(data); s != nil {
		return s, s.check()
	}
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return nil, errNoSnapshot
	}
	// The lines are not as they were written: reformatted, cut, or another file.
	var doc struct {
		Info
		Objects map[string][]json.RawMessage `json:"objects"`
	}
	err := json.Unmarshal(data, &doc)
	if doc.Kind != fileKind && !bytes.Contains(data[:min(len(data), 512)], []byte(`"`+fileKind+`"`)) {
		return nil, errNoSnapshot
	}
	// A newer format may have another shape, so errors come last.
	s := &Snapshot{Info: doc.Info, raw: doc.Objects}
	if bad := s.check(); bad != nil {
		return nil, bad
	}
	if err != nil {
		return nil, damaged(data, err)
	}
	return s, nil
}

// damaged says where a snapshot is broken.
func damaged(data []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		if strings.Contains(syntax.Error(), "unexpected end") {
			return unusable("the snapshot is cut short").Suggest(suggest.SaveSnapshot("FILE").WithNote("saves it again")).WithCause(err)
		}
		line := bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n")) + 1
		return unusable(fmt.Sprintf("the snapshot is damaged at line %d", line)).Suggest(suggest.SaveSnapshot("FILE").WithNote("saves it again")).WithCause(err)
	}
	return unusable("the snapshot is damaged").Suggest(suggest.SaveSnapshot("FILE").WithNote("saves it again")).WithCause(err)
}

// check refuses what this hyperpod cannot know.
func (s *Snapshot) check() error {
	if s.Info.Kind == fileKind && s.Info.Format > fileFormat {
		return unusable(fmt.Sprintf("a newer hyperpod made it (snapshot format %d; this version reads up to %d)", s.Info.Format, fileFormat)).
			WithAdvice("install the newer version, or save the snapshot again with this one").Suggest(suggest.SaveSnapshot("FILE"))
	}
	return nil
}

// decodeLines reads the format as it is written, line by line and without
// looking into the objects; nil when anything is different.
func decodeLines(data []byte) *Snapshot {
	head, rest, ok := bytes.Cut(data, []byte("\n"+objectsLine+"\n"))
	if !ok {
		return nil
	}
	s := &Snapshot{raw: map[string][]json.RawMessage{}}
	head = append(bytes.TrimSuffix(bytes.Clone(head), []byte(",")), '}')
	if json.Unmarshal(head, &s.Info) != nil || s.Info.Kind != fileKind {
		return nil
	}
	if s.Info.Format > fileFormat {
		return s // whatever follows: the caller says that it is newer
	}
	for {
		line, more, ok := bytes.Cut(rest, []byte("\n"))
		if !ok {
			return nil
		}
		rest = more
		if string(line) == " }" {
			break
		}
		resource, list, after := decodeKind(line, rest)
		if after == nil {
			return nil
		}
		s.raw[resource] = list
		rest = after
	}
	if string(bytes.TrimSpace(rest)) != "}" {
		return nil
	}
	return s
}

// decodeKind reads the lines of one kind; after is nil when they are not as they
// were written.
func decodeKind(line, rest []byte) (resource string, list []json.RawMessage, after []byte) {
	name, ok := bytes.CutSuffix(line, []byte(": ["))
	if !ok || json.Unmarshal(name, &resource) != nil {
		return "", nil, nil
	}
	for {
		line, more, ok := bytes.Cut(rest, []byte("\n"))
		if !ok {
			return "", nil, nil
		}
		rest = more
		item, isItem := bytes.CutPrefix(line, []byte("   "))
		if !isItem {
			if end := string(line); end != "  ]" && end != "  ]," {
				return "", nil, nil
			}
			return resource, list, rest
		}
		item = bytes.TrimSuffix(item, []byte(","))
		if len(item) < 2 || item[0] != '{' || item[len(item)-1] != '}' {
			return "", nil, nil
		}
		list = append(list, item)
	}
}

// readFile reads an ordinary file, compressed or not, and says when it was changed.
func readFile(path string, most int64) (data []byte, info os.FileInfo, err error) {
	what := "cannot open " + path
	// Before it is opened: opening a pipe waits for someone to write into it.
	info, err = os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, errs.NotFoundf("file %s not found", path).Suggest(suggest.SaveSnapshot(path)).WithCause(err)
	case err != nil:
		return nil, nil, errs.New(what, errs.FileReason(err)).WithCode(errs.Usage).WithCause(err)
	case info.IsDir():
		return nil, nil, errs.New(what, "it is a directory").WithCode(errs.Usage)
	case !info.Mode().IsRegular():
		return nil, nil, errs.New(what, "it is not a regular file").WithCode(errs.Usage).WithAdvice("save it to a file first")
	case info.Size() > most:
		return nil, nil, tooLarge(what, most)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, errs.New(what, errs.FileReason(err)).WithCode(errs.Usage).WithCause(err)
	}
	defer f.Close()
	most = min(most, max(maxSmall, info.Size()*maxRatio))
	size := textSize(f, info.Size())
	if size > most {
		return nil, nil, tooLarge(what, most)
	}
	r, err := text(f)
	if err == nil {
		buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		_, err = buf.ReadFrom(io.LimitReader(r, most+1))
		data = buf.Bytes()
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return nil, nil, errs.New(what, "the file is cut short").WithCode(errs.Usage).Suggest(suggest.SaveSnapshot(path).WithNote("saves it again")).WithCause(err)
	case err != nil:
		return nil, nil, errs.New(what, errs.FileReason(err)).WithCode(errs.Usage).WithCause(err)
	case int64(len(data)) > most:
		return nil, nil, tooLarge(what, most)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, nil, errs.New(what, "it is empty").WithCode(errs.Usage)
	}
	return data, info, nil
}

// textSize returns how much text a file of some size says it holds: what is compressed
// ends with it (RFC 1952, 2.3.1). So what is too large is refused unread, and what
// is not is read into memory once. It is a hint: a file may say anything, and less
// than it holds from 4 GB on.
func textSize(f io.ReaderAt, size int64) int64 {
	var magic [2]byte
	var last [4]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil || magic != [2]byte{0x1f, 0x8b} {
		return size
	}
	if _, err := f.ReadAt(last[:], size-int64(len(last))); err != nil {
		return size
	}
	// Deflate packs a byte of text into a thousandth of one at best, so a file that
	// was cut, whose last bytes are anything, takes no memory that it cannot fill.
	return min(int64(binary.LittleEndian.Uint32(last[:])), size*1032)
}

func tooLarge(what string, most int64) error {
	return errs.New(what, "it has more than "+megabytes(most)+" of text").WithCode(errs.Usage).
		Suggest(suggest.SaveSnapshot("FILE").WithNote("leaves out what is not needed"), suggest.SaveSnapshot("FILE").WithArgs(suggest.Namespace("NAMESPACE").Args...).WithNote("saves one namespace only"))
}

func megabytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d MB", n>>20)
}
