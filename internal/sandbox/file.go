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
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

const (
	// Extension is the extension of sandbox files.
	Extension = ".json"
	// fileKind and fileFormat tell a sandbox from other files, and how it is read.
	fileKind   = "hyperpod-sandbox"
	fileFormat = 1
)

// Duration is a time.Duration that is written as people write it ("2h0m0s").
type Duration time.Duration

// MarshalText writes the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads the duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// header is everything in the file but the objects.
type header struct {
	Kind            string    `json:"kind"`
	Format          int       `json:"format"`
	Scenario        string    `json:"scenario"`
	Created         time.Time `json:"created"`
	Offset          Duration  `json:"offset"`      // of the sandbox's clock to the wall clock
	JobDuration     Duration  `json:"jobDuration"` // of jobs that do not say
	Simulated       time.Time `json:"simulated"`   // the controllers ran up to here
	Next            time.Time `json:"next,omitzero"`
	Settled         int64     `json:"settled"` // the resource version after they ran
	ResourceVersion int64     `json:"resourceVersion"`
}

// stamp identifies one version of the file.
type stamp struct{ info os.FileInfo }

func (s stamp) same(o stamp) bool {
	return s.info != nil && o.info != nil && os.SameFile(s.info, o.info) &&
		s.info.Size() == o.info.Size() && s.info.ModTime().Equal(o.info.ModTime())
}

// file is the sandbox's file. The functions are fields so that tests can make
// them fail as a full disk would.
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
	h, err := os.Open(f.path)
	if err != nil {
		return header{}, nil, stamp{}, f.openError(err)
	}
	defer h.Close()
	// The stamp is of the file that is read, not of one that may just have taken
	// its place.
	info, err := h.Stat()
	if err != nil {
		return header{}, nil, stamp{}, f.openError(err)
	}
	data := make([]byte, 0, info.Size()+1)
	buf := bytes.NewBuffer(data)
	if _, err := buf.ReadFrom(bufio.NewReaderSize(h, 1<<20)); err != nil {
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
	err := json.Unmarshal(data, &doc)
	if err != nil && json.Unmarshal(data, &doc.header) != nil {
		return doc.header, nil, f.damaged(describeJSON(data, err))
	}
	// A newer format may have another shape, so an error is looked at last.
	switch head := doc.header; {
	case head.Kind != fileKind:
		return head, nil, f.damaged(errors.New("it is not a sandbox"))
	case head.Format > fileFormat:
		return head, nil, errs.New("cannot open sandbox "+f.name(),
			fmt.Sprintf("a newer hyperpod made it (file format %d; this one knows %d)", head.Format, fileFormat)).
			WithFact("file", f.path).
			WithAdvice("install the newer hyperpod").WithTry(f.anew()...)
	}
	if err != nil {
		return doc.header, nil, f.damaged(describeJSON(data, err))
	}
	st := store.New()
	if err := st.Load(doc.ResourceVersion, doc.Objects); err != nil {
		return doc.header, nil, f.damaged(err)
	}
	return doc.header, st, nil
}

// describeJSON adds where in the file the error is.
func describeJSON(data []byte, err error) error {
	var syntax *json.SyntaxError
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("it is empty")
	}
	if errors.As(err, &syntax) {
		at := min(int(syntax.Offset), len(data))
		return fmt.Errorf("line %d cannot be read", bytes.Count(data[:at], []byte("\n"))+1)
	}
	return errors.New("it has another shape")
}

func (f file) damaged(cause error) error {
	return errs.New("cannot open sandbox "+f.name(), "its file is damaged: "+cause.Error()).
		WithFact("file", f.path).
		WithTry(f.anew()...).
		WithCause(cause)
}

// anew are the commands that make a sandbox again. One that is named like a
// scenario is made when it is used next.
func (f file) anew() []string {
	if slices.ContainsFunc(Scenarios(), func(s Scenario) bool { return s.Name == f.name() }) {
		return []string{"hyperpod sandbox delete " + f.name() + "   # it is made anew when it is used next"}
	}
	return []string{"hyperpod sandbox delete " + f.name(), "hyperpod sandbox create " + f.name() + " --scenario enterprise"}
}

func (f file) openError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errs.NotFoundf("there is no sandbox %s", f.name()).
			WithFact("file", f.path).
			WithTry("hyperpod sandbox create "+f.name()+" --scenario enterprise", "hyperpod sandbox list").
			WithCause(err)
	}
	return errs.New("cannot open sandbox "+f.name(), errs.FileReason(err)).WithFact("file", f.path).WithCause(err)
}

// encode writes the file's content: one object a line, kinds and keys sorted.
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

// save replaces the file in one step: whoever reads sees the old state or the
// new one, and a failed save leaves the old one.
func (f file) save(head header, st *store.Store) (stamp, error) {
	data, err := encode(head, st)
	if err != nil {
		return stamp{}, err
	}
	info, err := f.replace(data)
	if err != nil {
		return stamp{}, errs.New("cannot save sandbox "+f.name(), errs.FileReason(err)+"; it is as it was before").
			WithFact("file", f.path).WithCause(err)
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
	// Size is that of the file, in bytes.
	Size int64
	// Err says why the file cannot be used; the rest may be empty then.
	Err error
}

// List describes the sandboxes in a folder, by name. A folder that does not
// exist has none.
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

// Delete removes a sandbox, damaged or not. There being none is an error with
// exit code 5.
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
	return nil
}
