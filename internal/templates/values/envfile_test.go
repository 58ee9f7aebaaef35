package values

import (
	"maps"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

func TestParseEnvFile(t *testing.T) {
	env := map[string]string{"FROM_HERE": "x"}
	lookup := func(k string) (string, bool) { v, ok := env[k]; return v, ok }
	for text, want := range map[string]map[string]string{
		"":                               {},
		"A=1\nB=2\n":                     {"A": "1", "B": "2"},
		"\xef\xbb\xbfA=1\r\n# B=2\r\n\n": {"A": "1"},
		"A=\"quoted\" # not a comment":   {"A": "\"quoted\" # not a comment"},
		"A=":                             {"A": ""},
		"A=b=c":                          {"A": "b=c"},
		"  A= 1 ":                        {"A": " 1 "},
		"FROM_HERE\nNOT_HERE":            {"FROM_HERE": "x"},
	} {
		got, err := ParseEnvFile("f", []byte(text), lookup)
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	_, err := ParseEnvFile("my.env", []byte("A=hunter2\n=hunter2\nexport B=hunter2\nC D=hunter2\nA=hunter2\nE=a\x00hunter2"), lookup)
	message := errs.Text(err, true)
	for _, part := range []string{"my.env", "line 2: the name", "line 3: export", "line 4: \"C D\"", "line 5: A is already set in line 1", "line 6:"} {
		if !strings.Contains(message, part) {
			t.Errorf("%q is missing in %s", part, message)
		}
	}
	if strings.Contains(message, "hunter2") || errs.ExitOf(err) != errs.Usage {
		t.Errorf("%s", message)
	}
}

func FuzzParseEnvFile(f *testing.F) {
	f.Add("A=1\nB")
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := ParseEnvFile("f", []byte(text), func(string) (string, bool) { return "", false })
		for k := range got {
			if !envName().MatchString(k) {
				t.Errorf("%q", k)
			}
		}
	})
}
