package slurm

import (
	"fmt"
	"strings"
)

// historyFields are the columns of sacct --format.
var historyFields = []column[Job]{
	{"JobID", func(j *Job, v string) { j.ID = v }},
	{"JobName", func(j *Job, v string) { j.Name = v }},
	{"User", func(j *Job, v string) { j.User = v }},
	{"Account", func(j *Job, v string) { j.Account = v }},
	{"Partition", func(j *Job, v string) { j.Partition = v }},
	{"QOS", func(j *Job, v string) { j.QOS = v }},
	{"State", func(j *Job, v string) { j.State = v }},
	{"Reason", func(j *Job, v string) { j.Reason = v }},
	{"NNodes", func(j *Job, v string) { j.Nodes = number(v) }},
	{"NCPUS", func(j *Job, v string) { j.CPUs = number(v) }},
	{"AllocTRES", func(j *Job, v string) { j.addDevices(v, 1) }},
	{"ReqTRES", func(j *Job, v string) { j.addDevices(v, 1) }},
	{"NodeList", func(j *Job, v string) { j.NodeList = strings.TrimPrefix(v, "None assigned") }},
	{"Submit", func(j *Job, v string) { j.Submit = moment(v) }},
	{"Start", func(j *Job, v string) { j.Start = moment(v) }},
	{"End", func(j *Job, v string) { j.End = moment(v) }},
	{"Timelimit", func(j *Job, v string) { j.TimeLimit = v }},
	{"WorkDir", func(j *Job, v string) { j.WorkDir = v }},
	{"Comment", func(j *Job, v string) { j.Comment = v }},
	{"ExitCode", func(j *Job, v string) {
		code, signal, _ := strings.Cut(v, ":")
		j.ExitCode, j.Signal = number(code), number(signal)
	}},
}

// HistoryFormat returns the value of sacct --format.
func HistoryFormat() string {
	var names []string
	for _, f := range historyFields {
		names = append(names, f.name)
	}
	return strings.Join(names, ",")
}

// ParseHistory reads what sacct printed in that format, with a separator between the
// fields. A name of several lines continues a record.
func ParseHistory(text, separator string) ([]Job, error) {
	var out []Job
	record := ""
	for line := range strings.Lines(text) {
		record += line
		values := strings.Split(strings.TrimSuffix(record, "\n"), separator)
		if len(values) < len(historyFields) {
			continue
		}
		if len(values) > len(historyFields) {
			return nil, fmt.Errorf("%d fields of a job, want %d", len(values), len(historyFields))
		}
		var j Job
		for i, f := range historyFields {
			f.set(&j, present(values[i]))
		}
		if array, task, ok := strings.Cut(j.ID, "_"); ok {
			j.Array, j.Task = array, task
		}
		out, record = append(out, j), ""
	}
	if strings.TrimSpace(record) != "" {
		return nil, fmt.Errorf("%d fields of a job, want %d", strings.Count(record, separator)+1, len(historyFields))
	}
	return out, nil
}
