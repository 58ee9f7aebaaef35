package main

import (
	"fmt"
	"os"
	"strings"
)

// rewrite replaces the tables of the document at path with those of the figures in a file that write made.
func rewrite(path, figures string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	r, err := readResults(figures)
	if err != nil {
		return err
	}
	out, err := r.fill(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(out), 0o644)
}

// fill replaces what is between "<!-- bench NAME -->" and "<!-- end -->" in a document.
func (r *results) fill(text string) (string, error) {
	for name, table := range map[string]string{"machine": r.machine(), "ratios": r.ratios(), "measures": r.measures(), "scale": r.scale()} {
		begin := "<!-- bench " + name + " -->\n"
		before, rest, found := strings.Cut(text, begin)
		_, after, ended := strings.Cut(rest, "<!-- end -->")
		if !found || !ended {
			return "", fmt.Errorf("no place for the table %s", name)
		}
		if r.Machine.Processors == 0 {
			table = "`make bench` fills this table.\n"
		}
		text = before + begin + "\n" + table + "\n<!-- end -->" + after
	}
	return text, nil
}

func (r *results) machine() string {
	m := r.Machine
	var loads []string
	for _, p := range r.Parts {
		loads = append(loads, p.Name+" "+p.Load)
	}
	return fmt.Sprintf("%d processors (%s), %s/%s, %s. Load at the end of each part (processes that run or want to): %s.\n", m.Processors, m.Processor, m.OS, m.Arch, m.Go, strings.Join(loads, ", "))
}

func (r *results) ratios() string {
	t := table("what", "against", "ratio", "goal", "")
	for _, part := range r.Parts {
		for _, x := range part.Ratios {
			t.row(code(x.Of), code(x.Against), fmt.Sprintf("%.2f", x.Ratio), limit(x.Budget, 2), verdictOf(x.Ratio, x.Budget))
		}
	}
	return t.String()
}

func (r *results) measures() string {
	t := table("what", "measured", "goal", "")
	for _, part := range r.Parts {
		for _, m := range part.Measures {
			t.row(code(m.What), number(m.Value)+" "+m.Unit, limit(m.Budget, 0), verdictOf(m.Value, m.Budget))
		}
	}
	return t.String()
}

func (r *results) scale() string {
	t := table("cluster", "command", "time", "memory", "requests", "read")
	for _, part := range r.Parts {
		for _, p := range part.Scale {
			t.row(p.Cluster, code(p.Command), fmt.Sprintf("%.0f ms", p.WallMs), fmt.Sprintf("%.0f MB", p.MemoryMB), fmt.Sprint(p.Requests), fmt.Sprintf("%.1f MB", float64(p.AnswerKB)/1000))
		}
	}
	return t.String()
}

// verdictOf says whether a figure is within its goal; "" where there is none.
func verdictOf(value, goal float64) string {
	switch {
	case goal == 0:
		return ""
	case value <= goal:
		return "met"
	}
	return "**missed**"
}

func limit(goal float64, digits int) string {
	if goal == 0 {
		return "-"
	}
	return fmt.Sprintf("%.*f", digits, goal)
}

func number(v float64) string {
	if v < 10 && v != float64(int(v)) {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// code puts a command line into backticks: what begins with the name of a program or a command.
func code(text string) string {
	line, rest, comma := strings.Cut(text, ",")
	for _, program := range []string{"hyperpod ", "kubectl ", "kueuectl ", "start-job ", "get-log ", "governance ", "get-token", "get-clusters", "connect-cluster"} {
		if strings.HasPrefix(line, program) {
			line, more, colon := strings.Cut(line, ":")
			line = "`" + strings.ReplaceAll(line, "|", "\\|") + "`"
			if colon {
				line += ":" + more
			}
			if comma {
				line += "," + rest
			}
			return line
		}
	}
	return text
}

// markdown is a table.
type markdown struct{ strings.Builder }

func table(columns ...string) *markdown {
	t := &markdown{}
	t.row(columns...)
	t.WriteString(strings.Repeat("|---", len(columns)) + "|\n")
	return t
}

func (t *markdown) row(cells ...string) { t.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
