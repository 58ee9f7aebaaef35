package output

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

func TestParseFormat(t *testing.T) {
	for _, tt := range []struct {
		in   string
		tty  bool
		want Name
	}{
		{"", false, JSON}, {"", true, TableFormat}, {"json", true, JSON}, {"YAML", false, YAML},
		{"table", false, TableFormat}, {"wide", false, Wide}, {"name", false, NameFormat},
		{"jsonpath={.a}", false, JSONPath}, {"custom-columns=A:.a", false, CustomColumns},
	} {
		f, err := ParseFormat(tt.in, tt.tty)
		if err != nil || f.Name != tt.want {
			t.Errorf("%q tty=%v: %q %v", tt.in, tt.tty, f.Name, err)
		}
		if f.IsTable() != (tt.want == TableFormat || tt.want == Wide) {
			t.Errorf("%q: IsTable %v", tt.in, f.IsTable())
		}
	}
}

func TestParseFormatErrors(t *testing.T) {
	for in, want := range map[string][]string{
		"jsno":                   {`output format "jsno" not found`, "json, jsonl, yaml, table, wide, name, prometheus, sarif, markdown, terraform, html, csv, focus-csv, prometheus-rules, jsonpath=, jsonpath-file=, custom-columns=, custom-columns-file=", "did you mean:  json"},
		"tabel":                  {"did you mean:  table"},
		"xml":                    {`output format "xml" not found`},
		"json=x":                 {"json takes no argument"},
		"jsonpath":               {"jsonpath requires an argument", "-o json   # shows the keys"},
		"jsonpath=":              {"jsonpath requires an argument"},
		"jsonpath={.a":           {`template "{.a" cannot be understood`, "unclosed action"},
		"jsonpath={.items[}":     {"cannot be understood"},
		"custom-columns":         {"requires an argument"},
		"custom-columns=NAME":    {`"NAME" is not TITLE:PATH`},
		"custom-columns=A:.a,":   {`"" is not TITLE:PATH`},
		"custom-columns=A:{.a[}": {"cannot be understood"},
		"custom-columns-file":    {"requires an argument", "-o custom-columns-file=FILE"},
	} {
		_, err := ParseFormat(in, false)
		text := ""
		if err != nil {
			text = errs.Text(err, false)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q: %q is not in\n%s", in, w, text)
			}
		}
		if errs.ExitOf(err) != errs.Usage {
			t.Errorf("%q: exit %d", in, errs.ExitOf(err))
		}
	}
}

func TestFormatFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	document := map[string]any{"kind": "Job", "name": "x"}
	for _, tt := range []struct{ flag, text, want string }{
		{"jsonpath-file", "{.name}{\"\\n\"}", "x\n"},
		{"custom-columns-file", "NAME   KIND\n.name  .kind\n", "NAME   KIND\nx      Job\n"},
	} {
		f, err := ParseFormat(tt.flag+"="+write(tt.flag, tt.text), false)
		if err != nil {
			t.Fatal(err)
		}
		s, b := Test()
		if err := Print(s, f, document, nil, nil); err != nil || b.Out.String() != tt.want {
			t.Errorf("%s: %q %v", tt.flag, b.Out, err)
		}
	}
	for _, text := range []string{"", "NAME\n", "A B\n.a\n", "A\n.a\n.b\n"} {
		if _, err := ParseFormat("custom-columns-file="+write("bad", text), false); errs.ExitOf(err) != errs.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
	missing := filepath.Join(dir, "missing")
	if _, err := ParseFormat("jsonpath-file="+missing, false); !os.IsNotExist(unwrapAll(err)) || errs.ExitOf(err) != errs.Failure {
		t.Errorf("missing file: %v", err)
	}
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if _, isPath := err.(*os.PathError); !ok || isPath {
			return err
		}
		err = u.Unwrap()
	}
}

type doc struct {
	Jobs    []entry `json:"jobs"`
	Missing []string
}

type entry struct {
	Zeta     string
	Alpha    int64
	Priority *string
	Spec     map[string]any
}

func testDoc() doc {
	p := "fine-tuning <80> & more"
	return doc{Jobs: []entry{
		{"z\u009b1", 12345678901234567, &p, map[string]any{"b": 1, "a": []any{}, "c": map[string]any{}}},
		{"画像\u202e", 0, nil, nil},
	}}
}

func TestPrintDocuments(t *testing.T) {
	for _, tt := range []struct{ format, want string }{
		{"json", "{\n \"jobs\": [\n  {\n   \"Zeta\": \"z\\u009b1\",\n   \"Alpha\": 12345678901234567,\n   \"Priority\": \"fine-tuning <80> & more\",\n" +
			"   \"Spec\": {\n    \"a\": [],\n    \"b\": 1,\n    \"c\": {}\n   }\n  },\n" +
			"  {\n   \"Zeta\": \"画像\\u202e\",\n   \"Alpha\": 0,\n   \"Priority\": null,\n   \"Spec\": null\n  }\n ],\n \"Missing\": []\n}\n"},
		{"yaml", "jobs:\n- Zeta: \"z\\x9B1\"\n  Alpha: 12345678901234567\n  Priority: fine-tuning <80> & more\n  Spec:\n    a: []\n    b: 1\n    c: {}\n" +
			"- Zeta: \"画像\\u202e\"\n  Alpha: 0\n  Priority: null\n  Spec: null\nMissing: []\n"},
		{"name", "job/a\njob/b\x1b\n"},
		{"jsonpath={.jobs[*].Alpha}", "12345678901234567 0"},
		{"jsonpath=.jobs[0].Zeta", "z\u009b1"},
		{"jsonpath=jobs[0].Alpha", "12345678901234567"},
		{"jsonpath={.nothing}", ""},
		{`jsonpath={range .jobs[*]}{.Alpha}{"\n"}{end}`, "12345678901234567\n0\n"},
		{`jsonpath={.jobs[?(@.Alpha>0)].Priority}`, "fine-tuning <80> & more"},
		{"jsonpath={.jobs[0].Spec}", `{"a":[],"b":1,"c":{}}`},
		{"custom-columns=Z:.Zeta,SPEC:.Spec,PRIO:.Priority,N:.No", "Z     SPEC                    PRIO                      N\n" +
			"z\u009b1   map[a:[] b:1 c:map[]]   fine-tuning <80> & more   <none>\n画像\u202e   <none>                  <none>                    <none>\n"},
	} {
		t.Run(tt.format, func(t *testing.T) {
			f, err := ParseFormat(tt.format, false)
			if err != nil {
				t.Fatal(err)
			}
			s, b := Test()
			if err := Print(s, f, testDoc(), nil, func() []string { return []string{"job/a", "job/b\x1b"} }); err != nil {
				t.Fatal(err)
			}
			if got := b.Out.String(); got != tt.want {
				t.Errorf("got\n%q\nwant\n%q", got, tt.want)
			}
		})
	}
}

// On a terminal nothing that is printed may act on it, whatever the format.
func TestNothingUnsafeOnATerminal(t *testing.T) {
	hostile := "a\x1b[2J\x1b]0;title\x07b\u009b31m\u202ec\x00\r\x7f\u2066\U000e0041"
	document := map[string]any{"items": []any{map[string]any{"kind": hostile, hostile: hostile}}}
	for _, format := range append(FormatNames()[:5], "jsonpath={.items[0].kind}", "jsonpath={.items[0]}", "custom-columns=K:.kind,"+hostile+":.kind") {
		f, err := ParseFormat(format, true)
		if err != nil {
			t.Fatal(err)
		}
		s, b := Test()
		s.OutTTY, s.Width = true, 80
		table := func() Table {
			return Table{Columns: []Column{{Title: hostile}}, Rows: [][]Cell{T(hostile)}, Notes: []string{hostile}}
		}
		if err := Print(s, f, document, table, func() []string { return []string{hostile} }); err != nil {
			t.Fatal(err)
		}
		if got := b.Out.String(); hasUnsafe(got, true) || !strings.Contains(got, "31m") {
			t.Errorf("%s: %q", format, got)
		}
	}
}

func TestFormatsThatACommandLacks(t *testing.T) {
	s, b := Test()
	for _, format := range []string{"table", "wide", "name"} {
		f, err := ParseFormat(format, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := Print(s, f, testDoc(), nil, nil); errs.ExitOf(err) != errs.Usage || b.Out.Len() > 0 {
			t.Errorf("%s: %v %q", format, err, b.Out)
		}
	}
	f, _ := ParseFormat("json", false)
	if err := Print(s, f, make(chan int), nil, nil); errs.ExitOf(err) != errs.Failure || b.Out.Len() > 0 {
		t.Errorf("an unprintable document: %v %q", err, b.Out)
	}
}
