package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/access"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

const (
	// Extension is the extension of sandbox files.
	Extension = ".json"
	// fileKind and fileFormat identify a sandbox file and its format.
	fileKind   = "hyperpod-sandbox"
	fileFormat = 1
)

// Duration is a time.Duration whose text form is that of Go ("2h0m0s").
type Duration time.Duration

// MarshalText returns the duration as text.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText parses the duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// header is everything in the file except the objects.
type header struct {
	Kind            string    `json:"kind"`
	Format          int       `json:"format"`
	Scenario        string    `json:"scenario"`
	Created         time.Time `json:"created"`
	Offset          Duration  `json:"offset"`      // of the sandbox's clock from the wall clock
	JobDuration     Duration  `json:"jobDuration"` // of jobs without a duration of their own
	Simulated       time.Time `json:"simulated"`   // the controllers ran up to this time
	Next            time.Time `json:"next,omitzero"`
	Settled         int64     `json:"settled"` // resource version after the controllers ran
	ResourceVersion int64     `json:"resourceVersion"`
}

// stamp identifies one version of the file.
type stamp struct{ info os.FileInfo }

func (s stamp) same(o stamp) bool {
	return s.info != nil && o.info != nil && os.SameFile(s.info, o.info) &&
		s.info.Size() == o.info.Size() && s.info.ModTime().Equal(o.info.ModTime())
}

// file is the sandbox's file. write is a field so that tests can make it fail like a
// full disk.
type file struct {
	path  string
	write func(f *os.File, b []byte) error
}

func newFile(path string) file {
	return file{path: path, write: func(f *os.File, b []byte) error { _, err := f.Write(b); return err }}
}

func (f file) name() string { return strings.TrimSuffix(filepath.Base(f.path), Extension) }

func (f file) stamp() (stamp, error) {
	info, err := os.Stat(f.path)
	return stamp{info}, err
}

// load reads the file.
func (f file) load() (header, *store.Store, stamp, error) {
	// Before it is opened: opening a pipe waits for a writer.
	if info, err := os.Stat(f.path); err == nil && !info.Mode().IsRegular() {
		return header{}, nil, stamp{}, f.damaged(errors.New("not a regular file"))
	}
	h, err := os.Open(f.path)
	if err != nil {
		return header{}, nil, stamp{}, f.openError(err)
	}
	defer h.Close()
	// The stamp must be that of the open file: another process may replace the path.
	info, err := h.Stat()
	if err != nil {
		return header{}, nil, stamp{}, f.openError(err)
	}
	if info.Size() > bounded.Sandbox {
		return header{}, nil, stamp{}, f.damaged(&bounded.TooLarge{Most: bounded.Sandbox})
	}
	data := make([]byte, 0, info.Size()+1)
	buf := bytes.NewBuffer(data)
	if _, err := buf.ReadFrom(bufio.NewReaderSize(bounded.NewReader(h, bounded.Sandbox), 1<<20)); err != nil {
		return header{}, nil, stamp{}, f.openError(err)
	}
	head, st, err := f.decode(buf.Bytes())
	return head, st, stamp{info}, err
}

func (f file) decode(data []byte) (header, *store.Store, error) {
	var doc struct {
		header
		Objects map[string][]json.RawMessage `json:"objects"`
	}
	err := json.Unmarshal(data, &doc) // it goes on after values of another type
	// A newer format may have another structure, so the decoding error comes later.
	if head := doc.header; head.Kind == fileKind && head.Format > fileFormat {
		return head, nil, errs.New("cannot open sandbox "+f.name(),
			fmt.Sprintf("a newer hyperpod wrote the file (format %d; this version reads up to %d)", head.Format, fileFormat)).
			WithFact("file", f.path).
			WithAdvice("upgrade hyperpod").Suggest(f.recreate()...)
	}
	if err != nil {
		return doc.header, nil, f.damaged(describeJSON(data, err))
	}
	if doc.Kind != fileKind {
		return doc.header, nil, f.damaged(errors.New("not a sandbox file"))
	}
	st := store.New()
	if err := st.Load(doc.ResourceVersion, doc.Objects); err != nil {
		return doc.header, nil, f.damaged(err)
	}
	return doc.header, st, access.AddDefaults(st, object.Stamp(doc.Created))
}

// describeJSON returns where in the file a decoding error is, in plain words.
func describeJSON(data []byte, err error) error {
	var syntax *json.SyntaxError
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("the file is empty")
	}
	if errors.As(err, &syntax) {
		at := min(int(syntax.Offset), len(data))
		return fmt.Errorf("line %d is not readable", bytes.Count(data[:at], []byte("\n"))+1)
	}
	return errors.New("unexpected structure")
}

func (f file) damaged(cause error) error {
	return errs.New("cannot open sandbox "+f.name(), "the file is damaged: "+cause.Error()).
		WithFact("file", f.path).
		Suggest(f.recreate()...).
		WithCause(cause)
}

// recreate returns the commands that replace a sandbox with a new one. A sandbox with
// the name of a scenario is created on its next use.
func (f file) recreate() []errs.Suggestion {
	if slices.ContainsFunc(Scenarios(), func(s Scenario) bool { return s.Name == f.name() }) {
		return []errs.Suggestion{suggest.DeleteSandbox(f.name()).WithNote("the next use creates it again")}
	}
	return []errs.Suggestion{suggest.DeleteSandbox(f.name()), suggest.CreateSandbox(f.name(), DefaultScenario)}
}

func (f file) openError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errs.NotFoundf("sandbox %q not found", f.name()).
			WithFact("file", f.path).
			Suggest(suggest.CreateSandbox(f.name(), DefaultScenario), suggest.ListSandboxes()).
			WithCause(err)
	}
	return errs.New("cannot open sandbox "+f.name(), errs.FileReason(err)).WithFact("file", f.path).WithCause(err)
}

// encode returns the file's content: one object per line, kinds and keys sorted.
func encode(head header, st *store.Store) ([]byte, error) {
	head.Kind, head.Format, head.ResourceVersion = fileKind, fileFormat, st.RV()
	h, err := json.MarshalIndent(head, "", " ")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(h, []byte("\n}")))
	b.WriteString(",\n \"objects\": {")
	for i, r := range st.Resources() {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n  %q: [", r)
		for j, o := range st.List(r, "") {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n   ")
			b.Write(o.Raw)
		}
		b.WriteString("\n  ]")
	}
	b.WriteString("\n }\n}\n")
	return b.Bytes(), nil
}

// save replaces the file in one step: readers see the old or the new state, and a
// failed save leaves the old one.
func (f file) save(head header, st *store.Store) (stamp, error) {
	data, err := encode(head, st)
	if err != nil {
		return stamp{}, err
	}
	info, err := f.replace(data)
	if err != nil {
		e := errs.New("cannot save sandbox "+f.name(), errs.FileReason(err)+"; the sandbox is unchanged").
			WithFact("file", f.path).WithCause(err)
		if errs.NoSpace(err) { // a client of the API gets the text only
			e = e.WithAdvice(errs.FreeSpace)
		}
		return stamp{}, e
	}
	return stamp{info}, nil
}

func (f file) replace(data []byte) (os.FileInfo, error) {
	return atomicfile.Write(f.path, func(tmp *os.File) error { return f.write(tmp, data) })
}

// Info describes a sandbox without opening it.
type Info struct {
	Name     string
	Path     string
	Scenario string
	Created  time.Time
	// Now is the sandbox's time.
	Now time.Time
	// Size is the size of the file in bytes.
	Size int64
	// Err is why the file is unusable. Other fields may then be empty.
	Err error
}

// List describes the sandboxes in a folder, sorted by name. A missing folder has none.
func List(dir string, o Options) ([]Info, error) {
	o = o.withDefaults()
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errs.New("cannot list the sandboxes", errs.FileReason(err)).WithFact("folder", dir).WithCause(err)
	}
	var out []Info
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != Extension || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		f := newFile(filepath.Join(dir, e.Name()))
		head, _, st, err := f.load()
		i := Info{Name: f.name(), Path: f.path, Scenario: head.Scenario, Created: head.Created, Err: err}
		if st.info != nil {
			i.Size = st.info.Size()
		}
		i.Now = o.Now().Add(time.Duration(head.Offset)).UTC()
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Delete removes a sandbox, even a damaged one. A missing sandbox is an error with exit
// code 5.
func Delete(ctx context.Context, path string, o Options) error {
	f := newFile(path)
	if _, err := f.stamp(); err != nil {
		return f.openError(err)
	}
	release, err := f.lock(ctx, o.withDefaults())
	if err != nil {
		return err
	}
	defer release()
	if err := os.Remove(path); err != nil {
		return errs.New("cannot delete sandbox "+f.name(), errs.FileReason(err)).WithFact("file", path).WithCause(err)
	}
	_ = os.Remove(f.lockPath())
	_ = os.RemoveAll(f.podFiles())
	return nil
}
