package slurm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Script is an sbatch script that starts one program on every node.
type Script struct {
	Name string
	// Comment is a plain word for lists of jobs, "" for none.
	Comment                             string
	Partition, Account, QOS, Constraint string
	Nodes                               int
	GPUs                                int // per node
	CPUs                                int // per node, 0 for Slurm's default
	MemoryMiB                           int64
	// Exclusive: the job gets whole nodes with all their CPUs and memory.
	Exclusive bool
	// Minutes is the time limit, 0 for the partition's.
	Minutes int
	// Output is the file of the output, with sbatch's patterns.
	Output      string
	Environment map[string]string
	// Image is what Pyxis runs the program in, "" for none.
	Image string
	// AutoResume: where HyperPod's plugin is installed, it restarts the step after it
	// replaced a faulty node.
	AutoResume bool
	// Meet: the program's words use ${HEAD_NODE}, the first node of the job.
	Meet bool
	// Program are the words of the program, quoted for bash. Before and After are lines
	// around it on every node.
	Program       []string
	Before, After []string
}

// HeadNode is the variable of a script with the name of the first node, JobID Slurm's
// variable with the number of the job. Both are for words of the program.
const (
	HeadNode = `"$HEAD_NODE"`
	JobID    = `"$SLURM_JOB_ID"`
)

// Agent is the folder by which scripts of AWS tell HyperPod's nodes from others: srun of
// another Slurm rejects the option for automatic resumption, which HyperPod's plugin adds.
const Agent = "/opt/sagemaker_cluster"

// plain is what a value of a #SBATCH line may be: sbatch has quotes and comments of its own.
var plain = pattern.Lazy(`^[A-Za-z0-9_./%:,=+@&|()*\[\]-]+$`)

// Plain reports whether a text can be the value of an option in a script.
func Plain(text string) bool { return plain().MatchString(text) && text[0] != '-' }

// Text returns the script.
func (s Script) Text() string {
	var b strings.Builder
	b.WriteString("#!/bin/bash\n")
	option := func(name string, value any) { fmt.Fprintf(&b, "#SBATCH --%s=%v\n", name, value) }
	option("job-name", s.Name)
	for _, o := range [][2]string{{"comment", s.Comment}, {"partition", s.Partition}, {"account", s.Account}, {"qos", s.QOS}, {"constraint", s.Constraint}} {
		if o[1] != "" {
			option(o[0], o[1])
		}
	}
	option("nodes", s.Nodes)
	option("ntasks-per-node", 1)
	if s.GPUs > 0 {
		option("gpus-per-node", s.GPUs)
	}
	if s.Exclusive {
		b.WriteString("#SBATCH --exclusive\n")
		option("mem", 0)
	}
	if s.CPUs > 0 {
		option("cpus-per-task", s.CPUs)
	}
	if s.MemoryMiB > 0 {
		option("mem", fmt.Sprintf("%dM", s.MemoryMiB))
	}
	if s.Minutes > 0 {
		option("time", s.Minutes)
	}
	option("output", s.Output)
	b.WriteString("\nset -euo pipefail\n")
	if len(s.Environment) > 0 {
		b.WriteByte('\n')
		for _, name := range slices.Sorted(maps.Keys(s.Environment)) {
			fmt.Fprintf(&b, "export %s=%s\n", name, words.ShellWord(s.Environment[name]))
		}
	}
	run := []string{"srun"}
	if s.AutoResume {
		fmt.Fprintf(&b, `
# HyperPod's plugin restarts the step after a faulty node was replaced. srun without
# the plugin rejects the option.
AUTO_RESUME=""
if [ -d %s ]; then
	AUTO_RESUME="--auto-resume=1"
fi
`, Agent)
		run = append(run, "$AUTO_RESUME")
	}
	if s.Image != "" {
		run = append(run, "--container-image="+words.ShellWord(s.Image))
	}
	if s.Meet {
		b.WriteString(`
# The processes of all nodes meet at the first one.
HEAD_NODE="$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)"
export HEAD_NODE
`)
	}
	fmt.Fprintf(&b, "\n%s %s\n", strings.Join(run, " "), s.program())
	return b.String()
}

// program returns what srun runs: the program itself, or a shell with the lines around it.
func (s Script) program() string {
	line := strings.Join(s.Program, " ")
	if len(s.Before)+len(s.After) == 0 {
		return line
	}
	lines := slices.Concat([]string{"set -e"}, s.Before, []string{line}, s.After)
	return "bash -c " + words.ShellWord(strings.Join(lines, "\n"))
}
