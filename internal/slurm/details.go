package slurm

import (
	"path"
	"strconv"
	"strings"
)

// Details is what only scontrol show job says of a job.
type Details struct {
	// StdOut and StdErr are the files of the output; Slurm has replaced %j and the like.
	StdOut, StdErr string
	BatchHost      string
	Features       string
	// Requeue: Slurm starts the job again after a node failed.
	Requeue bool
}

// ParseDetails reads what scontrol show job printed of one job. Fields are Key=Value; those
// that may hold spaces have a line of their own. A name of several lines comes before them,
// so the last line of a key counts.
func ParseDetails(text string) Details {
	var d Details
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if key, value, ok := strings.Cut(line, "="); ok {
			switch value = present(value); key {
			case "StdOut":
				d.StdOut = value
				continue
			case "StdErr":
				d.StdErr = value
				continue
			}
		}
		for _, word := range strings.Fields(line) {
			switch key, value, _ := strings.Cut(word, "="); key {
			case "BatchHost":
				d.BatchHost = value
			case "Requeue":
				d.Requeue = value == "1"
			case "Features":
				d.Features = present(value)
			}
		}
	}
	return d
}

// ownOutput is where scripts of this program write, defaultOutput and arrayOutput where sbatch lets others write.
const (
	ownOutput     = "%x-%j.out"
	defaultOutput = "slurm-%j.out"
	arrayOutput   = "slurm-%A_%a.out"
)

// LikelyOutputs returns the files to which a job may have written, once only the accounting database knows it: that
// keeps no file names.
func (j Job) LikelyOutputs() (out []string) {
	patterns := []string{ownOutput, defaultOutput}
	if j.Array != "" {
		patterns = []string{arrayOutput}
	} else if strings.Contains(j.Name, "/") {
		patterns = []string{defaultOutput}
	}
	if j.WorkDir == "" {
		return nil
	}
	for _, p := range patterns {
		out = append(out, j.OutputFile(p))
	}
	return out
}

// OutputFile returns a path of the output as a file name: newer versions of Slurm leave
// its patterns to the reader. See "filename pattern" in sbatch's manual.
func (j Job) OutputFile(pattern string) string {
	number, task, _ := strings.Cut(j.ID, "_")
	if j.Array != "" {
		number = j.Array
	}
	host, _, _ := strings.Cut(j.NodeList, ",")
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' || i+1 == len(pattern) {
			b.WriteByte(pattern[i])
			continue
		}
		end := i + 1
		for end < len(pattern)-1 && pattern[end] >= '0' && pattern[end] <= '9' {
			end++
		}
		width, _ := strconv.Atoi(pattern[i+1 : end])
		value := ""
		switch pattern[end] {
		case 'j', 'J', 'A':
			value = number
		case 'a':
			value = task
		case 'x':
			value = j.Name
		case 'u':
			value = j.User
		case 'N':
			value = host
		case 'n', 't', 's':
			value = "0"
		case '%':
			value = "%"
		default:
			value = pattern[i : end+1]
		}
		if pad := min(width, 10) - len(value); pad > 0 && digits(value) {
			value = strings.Repeat("0", pad) + value
		}
		b.WriteString(value)
		i = end
	}
	if file := b.String(); path.IsAbs(file) || file == "" {
		return file
	}
	return path.Join(j.WorkDir, b.String())
}
