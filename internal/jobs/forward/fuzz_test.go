package forward

import (
	"fmt"
	"testing"
)

// FuzzParsePort: a pair of ports that is written as it was read is the same pair.
func FuzzParsePort(f *testing.F) {
	for _, s := range []string{"8080", ":6006", "0:1", "65535:65536", "1:2:3", "08", "-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePort(text)
		if err != nil {
			return
		}
		if again, err := ParsePort(fmt.Sprintf("%d:%d", p.Local, p.Remote)); err != nil || again != p || p.Remote == 0 {
			t.Errorf("%q: %+v and %+v, %v", text, p, again, err)
		}
	})
}
