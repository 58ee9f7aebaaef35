package api

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// The columns are those of Kubernetes' printers and of the CRDs, as far as a sandbox has
// values for them.
var (
	namespaceColumns = []column{{name: "Status", cell: at("status", "phase")}}

	nodeColumns = []column{
		{name: "Status", cell: nodeStatus},
		{name: "Roles", cell: func(map[string]any, time.Time) any { return "<none>" }},
		{name: "Instance-Type", cell: func(o map[string]any, _ time.Time) any { return label(o, kinds.InstanceTypeLabel) }},
		{name: "GPUs", cell: func(o map[string]any, _ time.Time) any {
			return orDash(object.Text(o, "status", "allocatable", "nvidia.com/gpu"))
		}},
		{name: "Version", cell: at("status", "nodeInfo", "kubeletVersion"), wide: true},
	}

	podColumns = []column{
		{name: "Ready", cell: podReady},
		{name: "Status", cell: podStatus},
		{name: "Restarts", cell: podRestarts},
		{name: "IP", wide: true, cell: func(o map[string]any, _ time.Time) any { return orNone(object.Text(o, "status", "podIP")) }},
		{name: "Node", wide: true, cell: func(o map[string]any, _ time.Time) any { return orNone(object.Text(o, "spec", "nodeName")) }},
	}

	eventColumns = []column{
		{name: "Last Seen", cell: since("lastTimestamp")},
		{name: "Type", cell: at("type")},
		{name: "Reason", cell: at("reason")},
		{name: "Object", cell: func(o map[string]any, _ time.Time) any {
			return strings.ToLower(object.Text(o, "involvedObject", "kind")) + "/" + object.Text(o, "involvedObject", "name")
		}},
		{name: "Source", wide: true, cell: at("source", "component")},
		{name: "Message", cell: at("message")},
	}

	configMapColumns = []column{{name: "Data", cell: func(o map[string]any, _ time.Time) any {
		data, _ := o["data"].(map[string]any)
		binary, _ := o["binaryData"].(map[string]any)
		return int64(len(data) + len(binary))
	}}}

	batchJobColumns = []column{
		{name: "Status", cell: batchStatus},
		{name: "Completions", cell: func(o map[string]any, _ time.Time) any {
			done, _ := object.Int(o, "status", "succeeded")
			if want, ok := object.Int(o, "spec", "completions"); ok {
				return fmt.Sprintf("%d/%d", done, want)
			}
			return fmt.Sprintf("%d/1", done)
		}},
		{name: "Duration", cell: jobDuration},
	}

	bindingColumns = []column{{name: "Role", cell: func(o map[string]any, _ time.Time) any {
		return object.Text(o, "roleRef", "kind") + "/" + object.Text(o, "roleRef", "name")
	}}}

	priorityClassColumns = []column{{name: "Value", cell: count("value")}}

	clusterQueueColumns = []column{
		{name: "Cohort", cell: at("spec", "cohortName")},
		{name: "Strategy", wide: true, cell: at("spec", "queueingStrategy")},
		{name: "Pending Workloads", cell: count("status", "pendingWorkloads")},
		{name: "Admitted Workloads", wide: true, cell: count("status", "admittedWorkloads")},
	}
	localQueueColumns = []column{
		{name: "ClusterQueue", cell: at("spec", "clusterQueue")},
		{name: "Pending Workloads", cell: count("status", "pendingWorkloads")},
		{name: "Admitted Workloads", cell: count("status", "admittedWorkloads")},
	}
	workloadColumns = []column{
		{name: "Queue", cell: at("spec", "queueName")},
		{name: "Reserved in", cell: at("status", "admission", "clusterQueue")},
		{name: "Admitted", cell: conditionCell("Admitted")},
		{name: "Finished", cell: conditionCell("Finished")},
	}
)

// jobColumns returns the columns of a job kind that is a custom resource.
func jobColumns(j kinds.Job) []column {
	if j.Columns == nil {
		return []column{{name: "State", cell: lastCondition}}
	}
	list := j.Columns()
	out := make([]column, len(list))
	for i, c := range list {
		out[i] = column{name: c.Name, cell: value(c.At)}
		if c.Condition != "" {
			out[i].cell = conditionCell(c.Condition)
		}
	}
	return out
}

// value returns the cell with what an object has at a path, as it is.
func value(path []string) func(map[string]any, time.Time) any {
	return func(o map[string]any, _ time.Time) any { return kinds.At(o, path...) }
}

func label(o map[string]any, key string) string { return object.Text(o, "metadata", "labels", key) }

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func orNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}

func conditionCell(kind string) func(map[string]any, time.Time) any {
	return func(o map[string]any, _ time.Time) any { return condition(o, kind) }
}

// lastCondition returns what the training operators show: the newest condition that is
// True.
func lastCondition(o map[string]any, _ time.Time) any {
	for _, c := range slices.Backward(object.List(o, "status", "conditions")) {
		if object.Text(c, "status") == "True" {
			return object.Text(c, "type")
		}
	}
	return ""
}

func nodeStatus(o map[string]any, _ time.Time) any {
	s := "NotReady"
	if condition(o, "Ready") == "True" {
		s = "Ready"
	}
	if b, _ := object.At(o, "spec", "unschedulable").(bool); b {
		s += ",SchedulingDisabled"
	}
	return s
}

func podReady(o map[string]any, _ time.Time) any {
	ready := 0
	for _, c := range object.List(o, "status", "containerStatuses") {
		if b, _ := object.At(c, "ready").(bool); b {
			ready++
		}
	}
	return fmt.Sprintf("%d/%d", ready, len(object.List(o, "spec", "containers")))
}

func podStatus(o map[string]any, _ time.Time) any {
	if object.Text(o, "metadata", "deletionTimestamp") != "" {
		return "Terminating"
	}
	for _, c := range object.List(o, "status", "containerStatuses") {
		for _, state := range []string{"waiting", "terminated"} {
			if r := object.Text(c, "state", state, "reason"); r != "" {
				return r
			}
		}
	}
	return object.Text(o, "status", "phase")
}

func podRestarts(o map[string]any, _ time.Time) any {
	var n int64
	for _, c := range object.List(o, "status", "containerStatuses") {
		r, _ := object.Int(c, "restartCount")
		n += r
	}
	return n
}

func batchStatus(o map[string]any, _ time.Time) any {
	for _, c := range []string{"Complete", "Failed", "Suspended"} {
		if condition(o, c) == "True" {
			return c
		}
	}
	return "Running"
}

func jobDuration(o map[string]any, now time.Time) any {
	start, ok := object.Time(o, "status", "startTime")
	if !ok {
		return ""
	}
	if end, ok := object.Time(o, "status", "completionTime"); ok {
		now = end
	}
	return duration.HumanDuration(now.Sub(start))
}
