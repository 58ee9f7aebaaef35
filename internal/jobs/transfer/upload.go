package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/tarball"
)

// Upload is a copy to a pod.
type Upload struct {
	Pod
	Root *os.Root
	// Entries are what to copy; their names are those below the folder To in the pod.
	Entries  []tarball.Entry
	To       string
	Progress *Progress
}

// IsFolder reports whether a path in the pod is a folder.
func (p Pod) IsFolder(ctx context.Context, name string) (bool, error) {
	_, code, err := p.answer(ctx, "test", "-d", name)
	return err == nil && code == 0, err
}

// Do runs a short command in the pod and returns its exit code.
func (p Pod) Do(ctx context.Context, command ...string) (int, error) {
	_, code, err := p.answer(ctx, command...)
	return code, err
}

// Must runs a short command in the pod. An exit code other than 0 is an error.
func (p Pod) Must(ctx context.Context, command ...string) error {
	var failure tail
	code, err := p.Run(ctx, command, nil, io.Discard, &failure)
	if err == nil && code != 0 {
		err = &CommandError{Command: command[0], Code: code, Message: failure.text()}
	}
	return err
}

// Copy copies. After a lost connection, files that arrived are left out, and a large one
// that arrived in part is continued, after a comparison of hashes.
func (u Upload) Copy(ctx context.Context) (tarball.Counts, error) {
	var counts tarball.Counts
	for _, e := range u.Entries {
		if e.Regular() {
			counts.Files++
			counts.Bytes += e.Info.Size()
		}
	}
	u.Progress.total.Store(counts.Bytes)
	left := u.Entries
	for try := 0; ; {
		begun, err := u.send(ctx, left)
		if err == nil {
			return counts, nil
		}
		rest := left
		for {
			if ctx.Err() != nil || !u.Lost(err) || try >= attempts {
				var failed *CommandError
				if errors.As(err, &failed) && failed.Full() {
					failed.Removed = u.clean(ctx, left[:min(begun+1, len(left))], failed.Message)
				}
				return counts, err
			}
			if err := u.backoff(ctx, try, err); err != nil {
				return counts, err
			}
			try++
			if rest, err = u.arrived(ctx, left, begun); err == nil {
				break
			}
		}
		if len(rest) < len(left) {
			try = 0
		}
		left = rest
		if len(left) == 0 {
			return counts, nil
		}
	}
}

// send unpacks entries in the pod. It returns the position of the entry that was being
// sent at the end.
func (u Upload) send(ctx context.Context, entries []tarball.Entry) (begun int, err error) {
	from, to := io.Pipe()
	packed := make(chan error, 1)
	at := make(chan int, 1)
	crash.Go(func() {
		last := 0
		err := tarball.Pack(counter{to, u.Progress}, u.Root, entries, func(i int) { last = i })
		to.CloseWithError(err)
		at <- last
		packed <- err
	})
	var message tail
	// -o: the files belong to the user of the pod; -m: they are new there.
	code, err := u.Run(ctx, []string{"tar", "xmof", "-", "-C", u.To}, from, nil, &message)
	from.CloseWithError(io.ErrClosedPipe)
	begun = <-at
	failed := <-packed
	switch {
	case failed != nil && !errors.Is(failed, io.ErrClosedPipe):
		return begun, failed // of this machine: a file that cannot be read, or shrank
	case err != nil:
		return begun, err
	case code != 0:
		return begun, &CommandError{Command: "tar", Code: code, Message: message.text()}
	case failed != nil:
		return begun, io.ErrUnexpectedEOF // tar ended before it had everything
	}
	return begun, nil
}

// counter counts what is sent.
type counter struct {
	io.Writer
	done *Progress
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.done.done.Add(int64(n))
	return n, err
}

// perQuestion limits how many files one command in the pod reads.
const perQuestion = 100

// arrived returns the entries that are still to be sent, when all before begun and maybe
// that one were sent.
func (u Upload) arrived(ctx context.Context, entries []tarball.Entry, begun int) ([]tarball.Entry, error) {
	sent := entries[:min(begun+1, len(entries))]
	var left []tarball.Entry
	var files []tarball.Entry
	for _, e := range sent {
		if e.Regular() {
			files = append(files, e)
		} else {
			left = append(left, e) // cheap to send again
		}
	}
	u.Progress.done.Store(0)
	for len(files) > 0 {
		some := files[:min(perQuestion, len(files))]
		files = files[len(some):]
		there, err := u.hashes(ctx, some)
		if err != nil {
			return entries, err
		}
		for _, e := range some {
			same, err := u.finished(ctx, e, there[u.place(e)])
			if err != nil {
				return entries, err
			}
			if same {
				u.Progress.done.Add(e.Info.Size())
			} else {
				left = append(left, e)
			}
		}
	}
	return append(left, entries[len(sent):]...), nil
}

// place returns the path of an entry in the pod. No program takes it for an option.
func (u Upload) place(e tarball.Entry) string {
	p := path.Join(u.To, e.Name)
	if !path.IsAbs(p) {
		p = "./" + p
	}
	return p
}

// hashes returns the SHA-256 of files in the pod, by path. Missing files have none.
func (u Upload) hashes(ctx context.Context, files []tarball.Entry) (map[string]string, error) {
	command := []string{"sha256sum"}
	for _, e := range files {
		command = append(command, u.place(e))
	}
	var out strings.Builder
	code, err := u.Run(ctx, command, nil, &out, io.Discard)
	if err != nil {
		return nil, err
	}
	if code > 1 { // 1: some files are missing
		return nil, &CommandError{Command: "sha256sum", Code: code}
	}
	there := map[string]string{}
	for line := range strings.Lines(out.String()) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || name == "" {
			continue
		}
		name = name[1:]                                             // a second blank, or * for binary
		if plain, escaped := strings.CutPrefix(sum, `\`); escaped { // as GNU coreutils writes names with these characters
			sum, name = plain, strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r").Replace(name)
		}
		there[name] = sum
	}
	return there, nil
}

// Check compares the copied files with their SHA-256 hashes, by the names of the entries. The
// error is ErrChanged if one differs.
func (u Upload) Check(ctx context.Context, want map[string]string) error {
	var files []tarball.Entry
	for _, e := range u.Entries {
		if e.Regular() {
			files = append(files, e)
		}
	}
	for some := range slices.Chunk(files, perQuestion) {
		there, err := u.hashes(ctx, some)
		if err != nil {
			return err
		}
		for _, e := range some {
			if there[u.place(e)] != want[e.Name] {
				return ErrChanged
			}
		}
	}
	return nil
}

// finished reports whether a file is complete in the pod. The rest of a large one is
// appended if what is there is its beginning.
func (u Upload) finished(ctx context.Context, e tarball.Entry, there string) (bool, error) {
	if there == "" {
		return false, nil
	}
	f, err := tarball.Open(u.Root, e.Path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	whole, err := sumOf(f, e.Info.Size())
	if err != nil || whole == there {
		return err == nil, err
	}
	if e.Info.Size() < bigFile {
		return false, nil
	}
	size, err := u.size(ctx, e)
	if err != nil || size <= 0 || size >= e.Info.Size() {
		return false, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	if beginning, err := sumOf(f, size); err != nil || beginning != there {
		return false, err
	}
	u.Progress.done.Add(size)
	rest := io.TeeReader(io.NewSectionReader(f, size, e.Info.Size()-size), counter{io.Discard, u.Progress})
	code, err := u.Run(ctx, script(`cat >> "$1" && chmod "$2" "$1"`, u.place(e), strconv.FormatUint(uint64(e.Info.Mode().Perm()), 8)), rest, nil, io.Discard)
	u.Progress.done.Add(-e.Info.Size()) // arrived counts it
	if err != nil || code != 0 {
		return false, err
	}
	now, err := u.hashes(ctx, []tarball.Entry{e})
	return now[u.place(e)] == whole, err
}

// clean removes files that tar wrote in part, and returns their number. They are shorter than those of this machine and have
// their beginning. A tar that went on after its first error replaced all files; another one ended in the first incomplete file,
// and the later ones are older than the copy.
func (u Upload) clean(ctx context.Context, sent []tarball.Entry, message string) (removed int) {
	all := strings.Contains(message, "previous errors") // GNU tar and libarchive
	files := slices.DeleteFunc(slices.Clone(sent), func(e tarball.Entry) bool { return !e.Regular() })
	for some := range slices.Chunk(files, perQuestion) {
		there, err := u.hashes(ctx, some)
		if err != nil {
			return removed
		}
		for _, e := range some {
			complete, part, err := u.compare(ctx, e, there[u.place(e)])
			if err != nil {
				return removed
			}
			if part {
				if code, err := u.Do(ctx, "rm", "-f", u.place(e)); err != nil || code != 0 {
					return removed
				}
				removed++
			}
			if !complete && !all {
				return removed
			}
		}
	}
	return removed
}

// compare reports a file with a hash in the pod that is complete, or that is the beginning of the one of this machine.
func (u Upload) compare(ctx context.Context, e tarball.Entry, there string) (complete, part bool, err error) {
	if there == "" {
		return false, false, nil
	}
	f, err := tarball.Open(u.Root, e.Path)
	if err != nil {
		return false, false, err
	}
	defer f.Close()
	whole, err := sumOf(f, e.Info.Size())
	if err != nil || whole == there {
		return err == nil, false, err
	}
	size, err := u.size(ctx, e)
	if err != nil || size < 0 || size >= e.Info.Size() {
		return false, false, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false, false, err
	}
	beginning, err := sumOf(f, size)
	return false, err == nil && beginning == there, err
}

// size returns the size of a file in the pod, -1 if that cannot be found out.
func (u Upload) size(ctx context.Context, e tarball.Entry) (int64, error) {
	out, code, err := u.answer(ctx, script(`wc -c < "$1"`, u.place(e))...)
	size, parsed := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if err != nil || code != 0 || parsed != nil {
		return -1, err
	}
	return size, nil
}

// sumOf returns the SHA-256 of the first n bytes.
func sumOf(f io.Reader, n int64) (string, error) {
	sum := sha256.New()
	if _, err := io.CopyN(sum, f, n); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
