package sbatch

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	text "github.com/hyperpod-cli/hyperpod/internal/words"
)

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
