package output

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// longSheet is a list as list-jobs -A -o wide has it.
func longSheet(rows int) Table {
	t := Table{Columns: []Column{{Title: "NAMESPACE"}, {Title: "NAME", Keep: true}, {Title: "STATE"},
		{Title: "AGE", Right: true}, {Title: "PRIORITY"}, {Title: "REASON"}}}
	states := []Cell{{Text: "Running", Style: Good}, {Text: "Pending", Style: Plain}, {Text: "Failed", Style: Bad}, {Text: "Succeeded", Style: Dim}}
	for i := range rows {
		t.Rows = append(t.Rows, []Cell{{Text: fmt.Sprintf("hyperpod-ns-team-%d", i%40)}, {Text: fmt.Sprintf("training-%d-llama-%d", i, i*7)},
			states[i%4], {Text: fmt.Sprintf("%dh", i%48)}, {Text: "fine-tuning-priority", Style: Plain}, {Text: "waits for 8 more nvidia.com/gpu", Style: Dim}})
	}
	return t
}

// Both writers must give the same bytes: a list may not change its looks when
// it grows.
func TestShortAndLongWritersAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "nvidia.com/gpu", "学習ジョブ", "x y", " lead", "trail ", "   ", "👩‍💻", "é", "█▒░·", "…", "-", strings.Repeat("long ", 30), "\x1b[31mred"}
	compared := 0
	for n := range 400 {
		var table Table
		for range 1 + r.IntN(6) {
			table.Columns = append(table.Columns, Column{Title: texts[r.IntN(len(texts))], Right: r.IntN(3) == 0})
		}
		for range r.IntN(6) {
			var row []Cell
			for range table.Columns {
				row = append(row, Cell{Text: texts[r.IntN(len(texts))], Style: Style(r.IntN(7))})
			}
			table.Rows = append(table.Rows, row)
		}
		for _, color := range []bool{false, true} {
			sheet := table.sheet(true)
			if !sheet.fitsTablewriter() {
				continue
			}
			compared++
			var short, long bytes.Buffer
			if err := sheet.writeShort(&short, color); err != nil {
				t.Fatal(err)
			}
			sheet.writeLong(&long, color)
			if short.String() != long.String() {
				t.Fatalf("table %d (color %v): %#v\nshort:\n%s\nlong:\n%s", n, color, table, short.String(), long.String())
			}
		}
	}
	if compared < 200 {
		t.Errorf("only %d tables were compared", compared)
	}
}

func BenchmarkRender(b *testing.B) {
	for _, rows := range []int{20, 199, 5000} {
		table := longSheet(rows)
		for _, color := range []bool{false, true} {
			b.Run(fmt.Sprintf("tablewriter/rows=%d/color=%v", rows, color), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s := table.sheet(true)
					if err := s.writeShort(new(bytes.Buffer), color); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("own/rows=%d/color=%v", rows, color), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s := table.sheet(true)
					s.writeLong(new(bytes.Buffer), color)
				}
			})
		}
	}
}

func BenchmarkPrint(b *testing.B) {
	type job struct {
		Name, Namespace, CreationTime, State string
		Priority                             *string
	}
	doc := struct {
		Jobs []job `json:"jobs"`
	}{}
	priority := "fine-tuning-priority"
	for i := range 5000 {
		doc.Jobs = append(doc.Jobs, job{fmt.Sprintf("training-%d", i), "hyperpod-ns-team", "2024-09-26T07:13:06Z", "Running", &priority})
	}
	for _, format := range []string{"json", "yaml", "jsonpath={.jobs[*].Name}", "custom-columns=N:.Name,S:.State", "table"} {
		b.Run(format, func(b *testing.B) {
			f, err := ParseFormat(format, false)
			if err != nil {
				b.Fatal(err)
			}
			s, buffers := Test()
			for b.Loop() {
				buffers.Out.Reset()
				if err := Print(s, f, doc, func() Table { return longSheet(5000) }, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
