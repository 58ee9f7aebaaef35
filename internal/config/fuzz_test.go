package config

import (
	"os"
	"testing"
)

// FuzzFile: settings are read or refused. One that is set has its value then, and the others keep theirs.
func FuzzFile(f *testing.F) {
	f.Add([]byte("# my settings\noutput: json # for scripts\nunknown: {a: [1, 2]}\nquiet: true\n"))
	f.Add([]byte("&a output: *a\n"))
	f.Add([]byte("output: null\n--- 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := newWorld(t)
		w.write(string(data))
		before, _, err := Load(w.env)
		if err != nil {
			return
		}
		if _, err := Set(w.env, "namespace", "fuzzed"); err != nil {
			return // a file that can be read and not written again stays as it is
		}
		after, _, err := Load(w.env)
		text, _ := os.ReadFile(w.path())
		if err != nil || after.Namespace != "fuzzed" || after.Output != before.Output || after.Quiet != before.Quiet {
			t.Errorf("%+v, %v\nbefore %+v\n%s", after, err, before, text)
		}
	})
}
