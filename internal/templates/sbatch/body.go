package sbatch

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// meaning is what is known of a variable of the script.
type meaning struct {
	words []string // of an array; one for a plain variable
	array bool
	// slurm: its value comes from Slurm, so that it does not exist elsewhere.
	slurm bool
	// unknown: only the run of the script makes its value.
	unknown bool
}

// step is the line that starts a program on all nodes.
type step struct {
	line, column int
	program      []word
	image        string
}

// script reads a script line by line.
func (r *reader) script(text string) {
	lines := strings.Split(text, "\n")
	inHeader := true
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		trimmed := strings.TrimSpace(line)
		switch {
		case inHeader && (strings.HasPrefix(line, "#SBATCH ") || strings.HasPrefix(line, "#SBATCH\t")):
			r.header(i+1, line)
			continue
		case trimmed == "" || trimmed[0] == '#':
			continue
		}
		inHeader = false
		n, closed := extent(lines[i:])
		if !closed {
			r.faultf(i+1, 1, "a quote, a bracket or a block is not closed within %d lines", mostLines)
			return
		}
		statement := strings.Join(lines[i:i+n], "\n")
		r.line = i + 1
		r.statement(statement, i+1, 1+len(line)-len(strings.TrimLeft(line, " \t")))
		i += n - 1
	}
}

var (
	opens  = pattern.Lazy(`(?:^|[;&|]\s*|\bdo\s+|\bthen\s+)(?:if|for|while|until|case|select)\b`)
	closes = pattern.Lazy(`(?:^|[;&|]\s*|\s)(?:fi|done|esac)\s*(?:$|[;&|)>])`)
	braces = pattern.Lazy(`(?:^|\))\s*\{\s*$`)
)

// extent returns how many lines a statement has: continued lines, blocks, brackets and quotes.
// closed is false if it has no end.
func extent(lines []string) (n int, closed bool) {
	depth := 0
	for n := 1; n <= min(len(lines), mostLines); n++ {
		line := strings.TrimSpace(lines[n-1])
		depth += len(opens().FindAllString(line, -1)) - len(closes().FindAllString(line, -1))
		if braces().MatchString(line) {
			depth++
		} else if line == "}" {
			depth--
		}
		if depth > 0 || strings.HasSuffix(line, "\\") {
			continue
		}
		if depth < 0 {
			return n, true
		}
		if list, ok := words(strings.Join(lines[:n], "\n"), 1, 1); ok && balanced(list) {
			return n, true
		}
	}
	return 0, false
}

// mostLines is how long a statement may be.
const mostLines = 200

// balanced reports whether brackets are closed.
func balanced(list []word) bool {
	depth := 0
	for _, w := range list {
		if w.operator() {
			depth += strings.Count(w.parts[0].text, "(") - strings.Count(w.parts[0].text, ")")
		}
	}
	return depth <= 0
}

var (
	assignment = pattern.Lazy(`^(?:export\s+|declare\s+(?:-[aArx]+\s+)*|readonly\s+|local\s+)?([A-Za-z_][A-Za-z0-9_]*)(\+?)=`)
	slurmWords = pattern.Lazy(`\bSLURM_[A-Z_]+|\bSLURMD_[A-Z_]+|\b(?:scontrol|squeue|sinfo|sbatch|scancel|sacct|srun|sattach|salloc)\b`)
	resumes    = pattern.Lazy(`\bauto-resume=|AUTO_RESUME`)
	strict     = pattern.Lazy(`^set\s+-[a-z]*e`)
)

// statement reads one statement at a position.
func (r *reader) statement(text string, line, column int) {
	trimmed := strings.TrimSpace(text)
	first, _, _ := strings.Cut(trimmed, " ")
	r.strict = r.strict || strict().MatchString(trimmed)
	switch {
	case strings.Contains(trimmed, "<<") && !strings.Contains(trimmed, "<<<"):
		r.faultf(line, column, "a here-document cannot be expressed")
	case resumes().MatchString(trimmed) && first != "srun":
		r.out.Values.AutoResume = r.out.Values.AutoResume || strings.Contains(trimmed, "auto-resume=1")
		for _, m := range regexp.MustCompile(`\b([A-Za-z_]*AUTO_RESUME[A-Za-z_]*)=`).FindAllStringSubmatch(trimmed, -1) {
			r.vars[m[1]] = meaning{words: nil, array: true}
		}
	case first == "module" || first == "ml":
		r.faultf(line, column, "modules of the cluster are not in the image")
	case first == "srun":
		r.srun(text, line, column)
	case assignment().MatchString(trimmed) && r.assign(trimmed, line, column):
	default:
		r.keep(text, line)
	}
}

// keep keeps a statement as lines around the program, unless it needs Slurm.
func (r *reader) keep(text string, line int) {
	offset := line
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if at := slurmWords().FindStringIndex(l); at != nil && !strings.HasPrefix(strings.TrimSpace(l), "#") {
			r.faultf(offset, at[0]+1, "%s exists only on Slurm", l[at[0]:at[1]])
			return
		}
		list, _ := words(l, offset, 1)
		for _, w := range list {
			for _, p := range w.parts {
				if (p.kind == variable || p.kind == array) && r.vars[p.text].slurm {
					r.faultf(w.line, w.column, "$%s has a value of Slurm", p.text)
					return
				}
			}
		}
		offset++
	}
	if r.step == nil {
		r.setup = append(r.setup, strings.TrimSpace(text))
	} else {
		r.after = append(r.after, strings.TrimSpace(text))
	}
}

// assign reads an assignment. It returns false if the statement is more than one.
func (r *reader) assign(text string, line, column int) bool {
	m := assignment().FindStringSubmatch(text)
	name, value := m[1], text[len(m[0]):]
	known := meaning{}
	if strings.HasPrefix(value, "(") {
		list, ok := words(value, line, column+len(m[0]))
		if !ok || len(list) < 2 || !list[0].operator() || !list[len(list)-1].operator() {
			return false
		}
		known.array = true
		if m[2] == "+" {
			known = r.vars[name]
			known.array = true
		}
		for _, w := range list[1 : len(list)-1] {
			texts, bad := r.expand(w)
			if bad != nil {
				known.slurm = known.slurm || bad.slurm
				texts = []string{source(w)}
			}
			known.words = append(known.words, texts...)
		}
		if known.slurm && !slices.ContainsFunc(known.words, launcherFlag) {
			known.unknown = true
		}
	} else {
		list, ok := words(value, line, column+len(m[0]))
		if !ok || len(list) > 1 {
			return false
		}
		if slurmWords().MatchString(value) || strings.Contains(value, "hostname") {
			known.slurm = true
		}
		if len(list) == 1 && !known.slurm {
			texts, bad := r.expand(list[0])
			known.words = texts
			if bad != nil {
				known.slurm, known.unknown = bad.slurm, true
			}
		} else if len(list) == 0 {
			known.words = []string{""}
		}
	}
	r.vars[name] = known
	switch {
	case known.slurm || known.array:
		return true // only the step can use it; elsewhere it is refused
	case strings.HasPrefix(text, "export") && !known.unknown:
		r.set(name, strings.Join(known.words, ""))
		return true
	}
	r.keep(text, line)
	return true
}

// source returns a word as far as it is literal, with $NAME for the rest.
func source(w word) (s string) {
	for _, p := range w.parts {
		switch p.kind {
		case literal:
			s += p.text
		case opaque:
			s += unknownText
		default:
			s += unknownText
		}
	}
	return s
}

// unknownText stands for what only the run of the script knows. No script contains it.
const unknownText = "\x00"

// unknownVar is why a word has no text.
type unknownVar struct {
	name  string
	slurm bool
}

// expand returns the words that a word becomes.
func (r *reader) expand(w word) ([]string, *unknownVar) {
	out := []string{""}
	for _, p := range w.parts {
		switch p.kind {
		case literal:
			out[len(out)-1] += p.text
		case opaque:
			return nil, &unknownVar{p.text, slurmWords().MatchString(p.text) || strings.Contains(p.text, "hostname")}
		case variable, array:
			m, ok := r.vars[p.text]
			if !ok {
				if v, given := r.out.Values.Environment[p.text]; given {
					m, ok = meaning{words: []string{v}}, true
				}
			}
			if !ok || m.unknown || m.slurm && !m.array {
				return nil, &unknownVar{"$" + p.text, m.slurm || strings.HasPrefix(p.text, "SLURM")}
			}
			if m.array && len(w.parts) == 1 || !p.quoted && len(w.parts) == 1 && strings.TrimSpace(strings.Join(m.words, "")) == "" {
				return m.words, nil
			}
			text := strings.Join(m.words, " ")
			if !p.quoted && strings.ContainsAny(text, " \t") && len(w.parts) == 1 {
				return strings.Fields(text), nil
			}
			out[len(out)-1] += text
		}
	}
	return out, nil
}
