// Package sbatch reads scripts of Slurm as the values of a job: the options of their header,
// and the one step that they start on all nodes. What a job of Kubernetes cannot be is
// refused at its line.
package sbatch

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Script is what a script says.
type Script struct {
	Values values.Values
	// Partition, Account and QOS are Slurm's: hints at a queue, a namespace and a priority.
	Partition, Account, QOS string
	Notices                 []string
}

// Is tells an sbatch script from a manifest: it begins with #! and has a line #SBATCH.
func Is(data []byte) bool {
	return bytes.HasPrefix(data, []byte("#!")) && (bytes.Contains(data, []byte("\n#SBATCH ")) || bytes.Contains(data, []byte("\n#SBATCH\t")))
}

// Under returns the script's values with those of the flags over them.
func (s Script) Under(flags values.Values) values.Values { return flags.Over(s.Values) }

// Read reads a script; path names it in the error, which lists every fault by its position
// and has exit code Usage.
func Read(path string, data []byte) (Script, error) {
	r := &reader{vars: map[string]meaning{}}
	r.out.Values.Environment = map[string]string{}
	switch {
	case len(data) > mostBytes:
		r.faultf(1, 1, "the script has more than %d bytes", mostBytes)
	case bytes.Contains(data, []byte{0}) || !utf8.Valid(data):
		r.faultf(1, 1, "the script has bytes that are not text")
	default:
		r.script(strings.ReplaceAll(string(data), "\r\n", "\n"))
		r.finish()
	}
	if len(r.faults) > 0 {
		return Script{}, manifest.Broken(path, r.faults...)
	}
	return r.out, nil
}

// reader reads one script.
type reader struct {
	out    Script
	faults []error

	option string // that is being read
	line   int

	nodes, tasks, tasksPerNode   int
	gpusPerNode, gpusInAll, cpus int

	vars   map[string]meaning
	setup  []string // lines before the step
	after  []string // lines behind it
	step   *step
	strict bool // the script has set -e
}

// Limits of a script, and of the list of its faults.
const (
	mostBytes = 64 << 10
	most      = 20
)

func (r *reader) faultf(line, column int, format string, args ...any) {
	if len(r.faults) < most {
		r.faults = append(r.faults, manifest.Faultf(line, format, args...).Col(column))
	}
}

func (r *reader) notef(format string, args ...any) {
	r.out.Notices = append(r.out.Notices, fmt.Sprintf("line %d: ", r.line)+fmt.Sprintf(format, args...))
}

func (r *reader) set(name, value string) { r.out.Values.Environment[name] = value }

// finish makes values of the header and the step.
func (r *reader) finish() {
	v := &r.out.Values
	nodes := max(r.nodes, 1)
	if r.nodes == 0 && r.tasks > 0 && r.tasksPerNode > 0 {
		nodes = (r.tasks + r.tasksPerNode - 1) / r.tasksPerNode
	}
	perNode := max(r.tasksPerNode, 1)
	if r.tasks > 0 && r.tasksPerNode == 0 {
		if perNode = r.tasks / nodes; perNode*nodes != r.tasks {
			r.faultf(1, 0, "%d tasks cannot be shared evenly by %d nodes", r.tasks, nodes)
			return
		}
	}
	v.NodeCount = values.Int(nodes)
	switch {
	case r.gpusPerNode > 0:
		v.Accelerators = values.Int(r.gpusPerNode)
	case r.gpusInAll > 0 && r.gpusInAll%nodes == 0:
		v.Accelerators = values.Int(r.gpusInAll / nodes)
	case r.gpusInAll > 0:
		r.faultf(1, 0, "%d accelerators cannot be shared evenly by %d nodes", r.gpusInAll, nodes)
	}
	if r.cpus > 0 {
		v.VCPU = strconv.Itoa(r.cpus * perNode)
	}
	r.program(nodes, perNode)
}
