package embedded

import "fmt"

// Guard turns a panic inside Kueue into an error: its code relies on the API
// server's validation and dereferences what a file may have left out.
func Guard(what string, do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: incomplete or inconsistent: %v", what, r)
		}
	}()
	return do()
}
