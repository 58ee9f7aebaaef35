package slurm

import (
	"strconv"
	"strings"
	"time"
)

// fields are the columns of squeue --Format.
var fields = []column[Job]{
	{"JobArrayID", func(j *Job, v string) { j.ID = v }},
	{"ArrayJobID", func(j *Job, v string) { j.Array = v }},
	{"ArrayTaskID", func(j *Job, v string) { j.Task = v }},
	{"Name", func(j *Job, v string) { j.Name = v }},
	{"UserName", func(j *Job, v string) { j.User = v }},
	{"Account", func(j *Job, v string) { j.Account = v }},
	{"Partition", func(j *Job, v string) { j.Partition = v }},
	{"QOS", func(j *Job, v string) { j.QOS = v }},
	{"State", func(j *Job, v string) { j.State = v }},
	{"Reason", func(j *Job, v string) { j.Reason = v }},
	{"NumNodes", func(j *Job, v string) { j.Nodes = number(v) }},
	{"NumCPUs", func(j *Job, v string) { j.CPUs = number(v) }},
	{"NumTasks", func(j *Job, v string) { j.Tasks = number(v) }},
	{"tres-alloc", func(j *Job, v string) { j.addDevices(v, 1) }},
	{"tres-per-job", func(j *Job, v string) { j.addDevices(v, 1) }},
	{"tres-per-node", func(j *Job, v string) { j.addDevices(v, j.Nodes) }},
	{"tres-per-task", func(j *Job, v string) { j.addDevices(v, j.Tasks) }},
	{"NodeList", func(j *Job, v string) { j.NodeList = v }},
	{"SchedNodes", func(j *Job, v string) { j.SchedNodes = v }},
	{"SubmitTime", func(j *Job, v string) { j.Submit = moment(v) }},
	{"StartTime", func(j *Job, v string) { j.Start = moment(v) }},
	{"EndTime", func(j *Job, v string) { j.End = moment(v) }},
	{"TimeLimit", func(j *Job, v string) { j.TimeLimit = v }},
	{"Dependency", func(j *Job, v string) { j.Dependency = v }},
	{"Command", func(j *Job, v string) { j.Command = v }},
	{"WorkDir", func(j *Job, v string) { j.WorkDir = v }},
	{"Comment", func(j *Job, v string) { j.Comment = v }},
	{"exit_code", func(j *Job, v string) { n := number(v); j.ExitCode, j.Signal = n>>8, n&0x7f }},
	{"PriorityLong", func(j *Job, v string) { j.Priority = number(v) }},
	{"RestartCnt", func(j *Job, v string) { j.Restarts = number(v) }},
}

// addDevices counts accelerators once: what is allocated, else what was requested.
func (j *Job) addDevices(list string, times int) {
	if len(j.Devices) == 0 {
		j.Devices = map[string]int64{}
		addGres(j.Devices, list, max(times, 1))
	}
}

// QueueFormat returns the value of squeue --Format with a separator.
func QueueFormat(separator string) string { return formatOf(fields, separator) }

// ParseQueue reads what squeue printed in that format.
func ParseQueue(text, separator string) ([]Job, error) {
	out, err := recordsOf(text, separator, "job", fields, present)
	for i := range out {
		if out[i].Task == "" {
			out[i].Array = ""
		}
	}
	return out, err
}

// present returns a value without the words that Slurm writes for none.
func present(v string) string {
	switch v = strings.TrimRight(v, " "); v {
	case "(null)", "N/A", "n/a", "None", "Unknown", "NONE":
		return ""
	}
	return v
}

func number(v string) int {
	v, _, _ = strings.Cut(v, "-") // "2-4" nodes: the least
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// moment reads a time in seconds since 1970: SLURM_TIME_FORMAT is %s.
func moment(v string) time.Time {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}
