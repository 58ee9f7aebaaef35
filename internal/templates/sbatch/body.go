package sbatch

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	text "github.com/hyperpod-cli/hyperpod/internal/words"
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

// srunFlags are options of srun without effect on a job: how they name tasks and their
// output, and sizes that the header has too.
var srunFlags = []string{"l", "label", "u", "unbuffered", "kill-on-bad-exit", "K", "exclusive", "overlap", "no-container-mount-home", "container-writable"}

// srunValues are those that have a value.
var srunValues = []string{"nodes", "N", "ntasks", "n", "ntasks-per-node", "gpus-per-node", "cpus-per-task", "c", "wait", "export", "cpu-bind", "gpu-bind", "distribution", "mpi", "output", "error", "container-name", "job-name"}

// srun reads the line that starts the program.
func (r *reader) srun(text string, line, column int) {
	if r.step != nil {
		r.faultf(line, column, "a second step cannot be expressed: the first is in line %d", r.step.line)
		return
	}
	s := &step{line: line, column: column}
	r.step = s
	list, ok := words(strings.TrimLeft(text, " \t"), line, column)
	if !ok {
		r.faultf(line, column, "a quote is not closed")
		return
	}
	list = list[1:]
	for len(list) > 0 {
		w := list[0]
		texts, unknown := r.expand(w)
		if unknown == nil && len(texts) == 0 {
			list = list[1:]
			continue
		}
		if unknown != nil || !strings.HasPrefix(texts[0], "-") {
			break
		}
		full, value, given := strings.Cut(texts[0], "=")
		name := strings.TrimLeft(full, "-")
		list = list[1:]
		if !given && len(list) > 0 && (slices.Contains(srunValues, name) || name == "container-image") {
			value, _ = list[0].text()
			list = list[1:]
		}
		switch {
		case name == "auto-resume":
			r.out.Values.AutoResume = value == "1"
		case name == "container-image":
			s.image = strings.Replace(strings.TrimPrefix(value, "docker://"), "#", "/", 1)
			if strings.HasSuffix(value, ".sqsh") {
				r.faultf(w.line, w.column, "a squash file cannot be pulled from a registry")
			}
		case slices.Contains(srunFlags, name), slices.Contains(srunValues, name), !strings.HasPrefix(full, "--") && len(name) > 1 && slices.Contains(srunValues, name[:1]):
		default:
			r.faultf(w.line, w.column, "option %s of srun cannot be expressed", full)
		}
	}
	for i, w := range list {
		if w.operator() {
			r.faultf(w.line, w.column, "%q after the program cannot be expressed: the output of the program is the log of its pod", w.parts[0].text)
			list = list[:i]
			break
		}
	}
	s.program = list
	if len(list) == 0 && len(r.faults) == 0 {
		r.faultf(line, column, "srun starts no program")
	}
}

// launcherFlags are options of torchrun that a job gets from its template.
var launcherFlags = []string{"nnodes", "nproc_per_node", "node_rank", "rdzv_id", "rdzv_backend", "rdzv_endpoint", "rdzv_conf", "master_addr", "master_port", "standalone"}

// launcherFlag reports whether an option is one of them.
func launcherFlag(text string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(text, "-"), "=")
	return strings.HasPrefix(text, "--") && slices.Contains(launcherFlags, strings.ReplaceAll(name, "-", "_"))
}

// program makes the command of the job.
func (r *reader) program(nodes, perNode int) {
	v := &r.out.Values
	if r.step == nil {
		switch {
		case len(r.setup) == 0 && len(r.faults) == 0:
			r.faultf(1, 0, "the script starts no program")
		case nodes > 1:
			r.faultf(1, 0, "the script starts nothing with srun: Slurm runs it on the first of %d nodes only", nodes)
		default:
			v.Command, v.EntryScript = "bash -c", strings.Join(r.setup, "\n")
		}
		return
	}
	if v.Image == "" {
		v.Image = r.step.image
	}
	var program []string
	for i := 0; i < len(r.step.program); i++ {
		w := r.step.program[i]
		texts, unknown := r.expand(w)
		if unknown != nil {
			if s := source(w); launcherFlag(s) && strings.Contains(s, "=") {
				continue // the template knows its value
			}
			if len(program) > 0 && launcherFlag(program[len(program)-1]) && !strings.Contains(program[len(program)-1], "=") {
				program = append(program, unknownText)
				continue
			}
			why := "only the run of the script knows the value of %s"
			if unknown.slurm {
				why = "%s has a value of Slurm"
			}
			r.faultf(w.line, w.column, why, unknown.name)
			return
		}
		program = append(program, texts...)
	}
	r.launch(program, perNode)
	if len(r.setup) > 0 && !r.strict {
		r.setup = slices.Insert(r.setup, 0, "set +e") // pods run the lines with -e
	}
	v.PreScript, v.PostScript = r.setup, r.after
}

// launch splits the words of the program: torchrun with its options, or any other program.
func (r *reader) launch(program []string, perNode int) {
	v, at := &r.out.Values, r.step
	if len(program) >= 3 && strings.HasPrefix(program[0], "python") && program[1] == "-m" && (program[2] == "torch.distributed.run" || program[2] == "torch.distributed.launch") {
		program = slices.Concat([]string{"torchrun"}, program[3:])
	}
	if len(program) == 0 {
		return
	}
	if base := program[0][strings.LastIndexByte(program[0], '/')+1:]; base != "torchrun" {
		if slices.ContainsFunc(program, func(s string) bool { return strings.Contains(s, unknownText) }) {
			r.faultf(at.line, at.column, "a value of Slurm cannot be expressed in the program")
			return
		}
		if perNode > 1 {
			r.faultf(at.line, at.column, "srun starts %d processes on each node, a pod one program: start the processes with torchrun", perNode)
			return
		}
		v.Command, v.EntryScript, v.ScriptArgs = quoted(program[:1]), "", program[1:]
		if len(program) > 1 {
			v.EntryScript, v.ScriptArgs = program[1], program[2:]
		}
		return
	}
	if perNode > 1 {
		r.faultf(at.line, at.column, "srun starts torchrun %d times on each node: it must be once", perNode)
		return
	}
	launcher := []string{"torchrun"}
	rest := program[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		name, value, given := strings.Cut(rest[0], "=")
		flag := rest[0]
		rest = rest[1:]
		if launcherFlag(flag) {
			if !given && len(rest) > 0 && !strings.HasSuffix(name, "standalone") {
				value, rest = rest[0], rest[1:]
			}
			if strings.HasSuffix(strings.ReplaceAll(name, "-", "_"), "nproc_per_node") {
				var n int
				if count(value, &n) == "" {
					v.TasksPerNode = values.Int(n)
				}
			}
			continue
		}
		if slices.Contains([]string{"m", "module", "no_python", "no-python"}, strings.TrimLeft(name, "-")) {
			r.faultf(at.line, at.column, "option %s of torchrun cannot be expressed: name a script", name)
			return
		}
		if strings.Contains(flag, unknownText) {
			r.faultf(at.line, at.column, "a value of Slurm cannot be expressed in %s", name)
			return
		}
		launcher = append(launcher, flag)
		if !given && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			launcher, rest = append(launcher, rest[0]), rest[1:]
		}
	}
	if len(rest) == 0 {
		r.faultf(at.line, at.column, "torchrun starts no script")
		return
	}
	if slices.ContainsFunc(rest, func(s string) bool { return strings.Contains(s, unknownText) }) {
		r.faultf(at.line, at.column, "a value that only the run of the script knows cannot be expressed in the arguments")
		return
	}
	v.Command, v.EntryScript, v.ScriptArgs = quoted(launcher), rest[0], rest[1:]
}

func quoted(list []string) string { return text.ShellWords(list) }
