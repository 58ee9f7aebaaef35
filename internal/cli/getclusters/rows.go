package getclusters

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Figure is a count, or "N/A" where it is not known, as in the official CLI.
type Figure struct{ value *int64 }

func figure(n *int64) Figure { return Figure{n} }

const notKnown = "N/A"

// MarshalJSON returns a number or "N/A".
func (f Figure) MarshalJSON() ([]byte, error) {
	if f.value == nil {
		return json.Marshal(notKnown)
	}
	return json.Marshal(*f.value)
}

func (f Figure) String() string {
	if f.value == nil {
		return "-"
	}
	return strconv.FormatInt(*f.value, 10)
}

// Quota are a namespace's accelerators of one instance type.
type Quota struct {
	AvailableAcceleratorDevices Figure
	TotalAcceleratorDevices     Figure
}

// Instances are the figures of one instance type.
type Instances struct {
	InstanceType                string
	TotalNodes                  Figure
	AcceleratorDevicesAvailable Figure
	Schedulable                 Figure           `json:"NodeHealthStatus=Schedulable"`
	DeepHealthPassed            Figure           `json:"DeepHealthCheckStatus=Passed"`
	Namespaces                  map[string]Quota `json:",omitempty"`
}

// Row is one instance type of a cluster, as v2 of the official CLI prints it; the last
// three keys are new.
type Row struct {
	Cluster string
	Instances
	ClusterStatus string
	Orchestrator  string
	// Error is why the cluster could not be read.
	Error string `json:",omitempty"`
}

// Grouped is a cluster with its instance types, as v3 of the official CLI prints it.
type Grouped struct {
	Cluster       string
	Instances     []Instances
	ClusterStatus string
	Orchestrator  string
	Error         string `json:",omitempty"`
}

func (t instanceType) instances() Instances {
	return Instances{InstanceType: t.name, TotalNodes: figure(t.nodes), AcceleratorDevicesAvailable: figure(t.free), Schedulable: figure(t.schedulable),
		DeepHealthPassed: figure(t.passedDeep), Namespaces: t.namespaces}
}

// all returns the instance types, or one row without any.
func (c cluster) all() []Instances {
	if len(c.types) == 0 {
		none := Instances{InstanceType: notKnown}
		if c.err == nil {
			none.TotalNodes = figure(new(int64))
		}
		return []Instances{none}
	}
	out := make([]Instances, len(c.types))
	for i, t := range c.types {
		out[i] = t.instances()
	}
	return out
}

func flat(found []cluster) []Row {
	out := []Row{}
	for _, c := range found {
		for _, in := range c.all() {
			r := Row{Cluster: c.name, Instances: in, ClusterStatus: c.status, Orchestrator: c.orchestrator}
			if c.err != nil {
				r.Error = text(c.err)
			}
			out = append(out, r)
		}
	}
	return out
}

func grouped(found []cluster) []Grouped {
	out := []Grouped{}
	for _, c := range found {
		g := Grouped{Cluster: c.name, Instances: c.all(), ClusterStatus: c.status, Orchestrator: c.orchestrator}
		if c.err != nil {
			g.Error = text(c.err)
		}
		out = append(out, g)
	}
	return out
}

// table returns the list for people.
func (o *Options) table(rows []Row, region string) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "CLUSTER", Keep: true}, {Title: "STATUS"}, {Title: "ORCHESTRATOR", Wide: true}, {Title: "INSTANCE-TYPE", Keep: true}, {Title: "NODES", Right: true},
		{Title: "SCHEDULABLE", Right: true}, {Title: "DEEP-CHECKED", Right: true, Yield: 1}, {Title: "FREE-DEVICES", Right: true}}, Empty: fmt.Sprintf("no clusters in %s", region)}
	for _, ns := range o.Namespaces {
		t.Columns = append(t.Columns, output.Column{Title: "QUOTA " + ns, Right: true}, output.Column{Title: "FREE " + ns, Right: true})
	}
	for _, r := range rows {
		instance := r.InstanceType
		if instance == notKnown {
			instance = "-"
		}
		status := output.Cell{Text: cmp.Or(r.ClusterStatus, "-")}
		if r.Error != "" {
			status = output.Cell{Text: cmp.Or(r.ClusterStatus, "-") + " (!)", Style: output.Bad}
		}
		cells := []output.Cell{{Text: r.Cluster}, status, {Text: cmp.Or(r.Orchestrator, "-")}, {Text: instance}}
		for _, f := range []Figure{r.TotalNodes, r.Schedulable, r.DeepHealthPassed, r.AcceleratorDevicesAvailable} {
			cells = append(cells, output.Cell{Text: f.String()})
		}
		for _, ns := range o.Namespaces {
			q := r.Namespaces[ns]
			cells = append(cells, output.T(q.TotalAcceleratorDevices.String(), q.AvailableAcceleratorDevices.String())...)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
