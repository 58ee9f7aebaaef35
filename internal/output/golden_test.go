package output

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/hyperpod-cli/hyperpod/test/golden"
)

// jobsTable has what real lists have, and what hostile ones have.
func jobsTable() Table {
	long := "llama-7b-fine-tuning-with-a-name-that-somebody-generated-from-a-branch-0123456789"
	return Table{
		Columns: []Column{{Title: "NAMESPACE"}, {Title: "NAME"}, {Title: "STATE"}, {Title: "GPUS", Right: true},
			{Title: "AGE", Right: true, Ticks: true}, {Title: "QUEUE", Wide: true}, {Title: "REASON"}},
		Rows: [][]Cell{
			{{Text: "ml-engineers"}, {Text: "llama-7b"}, {Text: "Running", Style: Good}, {Text: "32"}, {Text: "1h32m"}, {Text: "ml-engineers"}, {Text: ""}},
			{{Text: "研究チーム"}, {Text: "画像分類"}, {Text: "Pending"}, {Text: "8"}, {Text: "20m"}, {Text: "研究チーム"}, {Text: "WaitingForQuota", Style: Warn}},
			{{Text: "ml-engineers"}, {Text: long}, {Text: "Preempted", Style: Warn}, {Text: "128"}, {Text: "2d4h"}, {Text: "ml-engineers"},
				{Text: "researchers took back 8 GPUs (reclaim) for researchers/vit-huge"}},
			{{Text: "evil"}, {Text: "red\x1b[31m\x07\u202egnp"}, {Text: "Failed", Style: Bad}, {Text: "1"}, {Text: "5s"}, {Text: "-", Style: Dim}, {Text: "line one\nline two\ttab \xff \u009b2J"}},
			{{Text: "interns"}, {Text: "short"}, {Text: "Succeeded", Style: Dim}},
		},
	}
}

func TestTableGolden(t *testing.T) {
	for _, width := range []int{0, 80, 200} {
		for _, color := range []bool{false, true} {
			for _, utf8 := range []bool{false, true} {
				for _, format := range []Name{TableFormat, Wide} {
					name := fmt.Sprintf("table-%d-color_%v-utf8_%v-%s", width, color, utf8, format)
					t.Run(name, func(t *testing.T) {
						s, b := Test()
						s.Width, s.Color, s.UTF8, s.OutTTY = width, color, utf8, width > 0
						if err := Print(s, Format{Name: format}, nil, jobsTable, nil); err != nil {
							t.Fatal(err)
						}
						golden.Check(t, "testdata/"+name+".golden", b.Out.String())
						fits := width
						if format == Wide {
							fits = 0 // never truncated
						}
						checkTable(t, b.Out.String(), fits)
					})
				}
			}
		}
	}
}

// checkTable holds what is true of every table, goldens or not.
func checkTable(t *testing.T, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimRight(line, " ") != line {
			t.Errorf("blanks at the end of %q", line)
		}
		plain := stripColors(line)
		if hasUnsafe(plain, false) {
			t.Errorf("unsafe: %q", line)
		}
		if w := displaywidth.String(plain); width > 0 && w > width {
			t.Errorf("%d columns, not %d: %q", w, width, line)
		}
	}
}

// stripColors removes the escapes of our own styles, and nothing else.
func stripColors(s string) string {
	for _, l := range looks {
		if l.before != "" {
			s = strings.ReplaceAll(s, l.before, "")
			s = strings.ReplaceAll(s, l.after, "")
		}
	}
	return s
}

// Colour may not move anything.
func TestColorKeepsAlignment(t *testing.T) {
	for _, width := range []int{0, 60, 80, 200} {
		var texts [2]string
		for i, color := range []bool{false, true} {
			s, b := Test()
			s.Width, s.OutTTY, s.Color = width, width > 0, color
			if err := Print(s, Format{Name: Wide}, nil, jobsTable, nil); err != nil {
				t.Fatal(err)
			}
			texts[i] = b.Out.String()
		}
		if strings.Contains(texts[0], "\x1b") {
			t.Errorf("escape without color: %q", texts[0])
		}
		if !strings.Contains(texts[1], "\x1b[1mNAMESPACE") {
			t.Errorf("header is not bold: %q", texts[1])
		}
		if got := stripColors(texts[1]); got != texts[0] {
			t.Errorf("width %d: color moved something\n%s\n%s", width, got, texts[0])
		}
	}
}

func TestPipeIsNeverTruncated(t *testing.T) {
	s, b := Test()
	s.Width = 40 // stderr may be a terminal, or COLUMNS be set
	if err := Print(s, Format{Name: TableFormat}, nil, jobsTable, nil); err != nil {
		t.Fatal(err)
	}
	if got := b.Out.String(); !strings.Contains(got, "0123456789") || strings.Contains(got, "…") {
		t.Errorf("truncated in a pipe:\n%s", got)
	}
}

func TestColumnsThatAreNotTruncated(t *testing.T) {
	table := Table{Columns: []Column{{Title: "NAME", Keep: true}, {Title: "SIZE", Right: true}, {Title: "NOTE"}},
		Rows: [][]Cell{T(strings.Repeat("n", 30), strings.Repeat("9", 30), strings.Repeat("t ", 15)+"t")}}
	s, b := Test()
	s.Width, s.OutTTY = 76, true
	if err := s.PrintTable(table); err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("n", 30) + "  " + strings.Repeat("9", 30) + "  t t t t t t…\n"
	if got := strings.SplitAfter(b.Out.String(), "\n")[1]; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	b.Out.Reset()
	s.Width = 20
	if err := s.PrintTable(table); err != nil {
		t.Fatal(err)
	}
	if got := b.Out.String(); !strings.Contains(got, strings.Repeat("n", 30)+"  "+strings.Repeat("9", 30)+"  t t t t…\n") {
		t.Errorf("too narrow: %q", got)
	}
}

func TestLongListLooksLikeShortOne(t *testing.T) {
	s, b := Test()
	table := longSheet(longList - 1)
	if err := s.PrintTable(table); err != nil {
		t.Fatal(err)
	}
	short := b.Out.String()
	b.Out.Reset()
	table.Rows = append(table.Rows, table.Rows[0])
	if err := s.PrintTable(table); err != nil {
		t.Fatal(err)
	}
	if long := b.Out.String(); !strings.HasPrefix(long, short) {
		t.Errorf("one row more changes the rest:\n%s\n%s", short[:300], long[:300])
	}
}

func TestEmptyTable(t *testing.T) {
	s, b := Test()
	empty := func() Table { return Table{Columns: []Column{{Title: "NAME"}}, Empty: "no jobs in team\x1b-a"} }
	if err := Print(s, Format{Name: TableFormat}, nil, empty, nil); err != nil {
		t.Fatal(err)
	}
	if b.Out.Len() != 0 || b.Err.String() != "no jobs in team\\x1b-a\n" {
		t.Errorf("out %q err %q", b.Out, b.Err)
	}
	b.Err.Reset()
	s.ErrTTY, s.Width = true, 10
	if err := Print(s, Format{Name: TableFormat}, nil, empty, nil); err != nil || b.Err.String() != "no jobs in\nteam\\x1b-a\n" {
		t.Errorf("10 columns: %v %q", err, b.Err)
	}
	s.ErrTTY, s.Width = false, 0
	b.Err.Reset()
	s.Quiet = true
	if err := Print(s, Format{Name: TableFormat}, nil, empty, nil); err != nil || b.Err.Len() != 0 {
		t.Errorf("quiet: %v %q", err, b.Err)
	}
	if err := s.PrintTable(Table{Columns: []Column{{Title: "NAME"}}, Notes: []string{"83 % used"}}); err != nil {
		t.Fatal(err)
	}
	if got := b.Out.String(); got != "NAME\n83 % used\n" {
		t.Errorf("got %q", got)
	}
}

func TestTruncate(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{
		{"hyperpod-ns-inference", 17, "hyperpod…nference"},
		{"hyperpod-ns-inference", 21, "hyperpod-ns-inference"},
		{"hyperpod-ns-inference", 3, "h…e"},
		{"hyperpod-ns-inference", 2, "h…"},
		{"hyperpod-ns-inference", 1, "…"},
		{"waits for 8 more GPUs", 12, "waits for 8…"},
		{"画像分類学習ジョブ", 10, "画像…ョブ"},
		{"画像分類学習ジョブ", 9, "画像…ョブ"},
		{"a画像分類学習ジョブ", 8, "a画…ョブ"},
		{"", 5, ""},
	} {
		got := truncate(tt.text, tt.width, "…")
		if got != tt.want || displaywidth.String(got) > tt.width {
			t.Errorf("%s in %d: %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}
