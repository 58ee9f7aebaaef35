// Package bounded reads files and streams of unknown size up to a limit, so that input without an end cannot
// exhaust the memory of the machine. The limits fit the largest clusters, with tens of thousands of jobs and
// annotations of 10 MB (docs/limits.md).
package bounded

import (
	"fmt"
	"io"
	"os"
)

// The limits in bytes.
const (
	// Settings is the limit of files that people write: settings, recipes, output templates.
	Settings = 1 << 20
	// Kubeconfig is the limit of a kubeconfig.
	Kubeconfig = 16 << 20
	// Object is the limit of an object, an event of a watch, and a value within a list.
	Object = 64 << 20
	// List is the limit of a list, over all pages.
	List = 4 << 30
	// Sandbox is the limit of a sandbox's file.
	Sandbox = 1 << 30
)

// The limits of lists, over all pages.
const (
	Items = 1_000_000
	Pages = 5_000
)

// TooLarge is the error about an input that exceeds its limit.
type TooLarge struct{ Most int64 }

func (e *TooLarge) Error() string { return "larger than " + Size(e.Most) }

// Size words a limit: 64 MiB.
func Size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Reader reads on until the limit, and fails with TooLarge where there is more.
type Reader struct {
	r          io.Reader
	most, left int64
}

// NewReader returns a Reader of r that fails with TooLarge after most bytes.
func NewReader(r io.Reader, most int64) *Reader { return &Reader{r: r, most: most, left: most} }

// Reset allows the same number of bytes again, for the next part of a stream.
func (b *Reader) Reset() { b.left = b.most }

func (b *Reader) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &TooLarge{b.most}
	}
	// One byte more tells a stream that ends at the limit from one that does not.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, &TooLarge{b.most}
	}
	return n, err
}

// ReadAll reads a stream to its end.
func ReadAll(r io.Reader, most int64) ([]byte, error) { return io.ReadAll(NewReader(r, most)) }

// File reads a file, a pipe or a device. The caller makes it interruptible: a pipe may
// have no writer.
func File(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, most)
}
