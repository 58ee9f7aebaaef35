package bounded

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// endless is a stream that has no end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestReadAll(t *testing.T) {
	for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader, func(r io.Reader) io.Reader { return r }} {
		for text, fits := range map[string]bool{"": true, "abc": true, "abcd": true, "abcde": false, "abcdefgh": false} {
			got, err := ReadAll(wrap(strings.NewReader(text)), 4)
			if fits != (err == nil) || string(got) != text[:min(4, len(text))] {
				t.Errorf("%q: %q, %v", text, got, err)
			}
		}
	}
	var large *TooLarge
	if _, err := ReadAll(endless{}, 64<<10); !errors.As(err, &large) || err.Error() != "larger than 64 KiB" {
		t.Errorf("%v", err)
	}
	// Each part of a stream has the limit of its own.
	r := NewReader(strings.NewReader("abcdef"), 4)
	p := make([]byte, 3)
	for range 2 {
		if n, err := io.ReadFull(r, p); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		r.Reset()
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := File(path, 5); string(got) != "12345" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := File(path, 4); err == nil {
		t.Error("no error")
	}
	if _, err := File(path+"x", 4); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
