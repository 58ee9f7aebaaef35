package upload

import (
	"strings"
	"testing"
)

// FuzzIgnore: whatever a .gitignore says, files are listed or left out, and nothing else is listed.
func FuzzIgnore(f *testing.F) {
	f.Add("*.log\n/out/\n!keep.log\n", "out")
	f.Add("**/a/**\n[!a-\\]*\n", "a")
	f.Add("\\", "\\")
	f.Fuzz(func(t *testing.T, text, name string) {
		if name == "" || len(name) > 200 || strings.ContainsAny(name, "/\x00") || name == "." || name == ".." || name == ".gitignore" || name == "sub" {
			return
		}
		listed, err := List(folder(t, map[string]string{".gitignore": text, name: "1", "sub/" + name: "2"}), MaxBytes, MaxFiles)
		if err != nil {
			return
		}
		for _, e := range listed.Entries {
			if e.Path != ".gitignore" && e.Path != name && e.Path != "sub/"+name {
				t.Errorf("%q", e.Path)
			}
		}
	})
}
