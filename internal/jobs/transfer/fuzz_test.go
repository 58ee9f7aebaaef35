package transfer

import (
	"strings"
	"testing"
)

// FuzzParseLocation: a location is a part of its text, and a local path is all of it.
func FuzzParseLocation(f *testing.F) {
	for _, s := range []string{"job:/a/b", "./a:b", `C:\a`, "ns/job:x", "pytorchjob.kubeflow.org/x:", ":", "a/b/c:d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		switch l := ParseLocation(text); {
		case l.Job == "" && l.Path != text, l.Job != "" && l.Job+":"+l.Path != text:
			t.Errorf("%q: %+v", text, l)
		case strings.Count(l.Job, "/") > 1:
			t.Errorf("%q names the job %q", text, l.Job)
		}
		if dir, base := split(text); base == "" || dir == "" {
			t.Errorf("%q: %q and %q", text, dir, base)
		}
	})
}
