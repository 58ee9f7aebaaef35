package output

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const unsetLocaleIsUTF8 = true

// brokenPipe knows the two codes that Windows has for a pipe without a reader.
func brokenPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}

// enableEscapes asks the console to understand escape sequences. Consoles that
// cannot are old, and then the sequences show.
func enableEscapes() {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		h := windows.Handle(f.Fd())
		var mode uint32
		if windows.GetConsoleMode(h, &mode) == nil {
			_ = windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
		}
	}
}
