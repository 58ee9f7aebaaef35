package jobs

import "time"

// ResilienceRow is a job's resilience in a document. FaultyNodes is left out where
// nodes could not be read, LastFault is null where none is known.
type ResilienceRow struct {
	AutoResume  bool
	MaxRetries  *int // null where the job sets none
	Retries     int
	Nodes       int
	FaultyNodes []NodeRow `json:",omitzero"`
	LastFault   *FaultRow
}

// NodeRow is a node's health in a document.
type NodeRow struct {
	Node string
	HealthRow
	LastFault *FaultRow
}

// HealthRow is what HyperPod says of a node. Null values are not known.
type HealthRow struct {
	Health     *string
	DeepHealth *string
	// PendingAction is Replacement or Reboot.
	PendingAction *string
	Faults        []string
}

// FaultRow is a fault in a document.
type FaultRow struct {
	Time    *time.Time // null where the node does not record it
	Type    string
	Reason  string
	Message string
	Node    string `json:",omitempty"`
	Pod     string `json:",omitempty"`
}

// Row returns the document's form. With known, the nodes were read.
func (r Resilience) Row(known bool) ResilienceRow {
	row := ResilienceRow{AutoResume: r.On, Retries: r.Used, Nodes: r.Nodes, LastFault: r.Last.row()}
	if r.Most > 0 {
		row.MaxRetries = &r.Most
	}
	if known {
		row.FaultyNodes = []NodeRow{}
	}
	for _, h := range r.Bad {
		row.FaultyNodes = append(row.FaultyNodes, NodeRow{h.Node, h.Row(), h.LastRow()})
	}
	return row
}

// Row returns the document's form.
func (h NodeHealth) Row() HealthRow {
	row := HealthRow{Health: known(h.Health), DeepHealth: known(h.DeepCheck), PendingAction: known(string(h.Pending)), Faults: []string{}}
	for _, text := range []string{h.Types, h.Reasons} {
		if text != "" && (len(row.Faults) == 0 || row.Faults[0] != text) {
			row.Faults = append(row.Faults, text)
		}
	}
	return row
}

// LastRow returns the last fault in a document, nil for none.
func (h NodeHealth) LastRow() *FaultRow { return JobFault{NodeFault: h.Last}.row() }

func (f JobFault) row() *FaultRow {
	if f.NodeFault == (NodeFault{}) {
		return nil
	}
	row := FaultRow{Type: f.Type, Reason: f.Reason, Message: f.Message, Node: f.Node, Pod: f.Pod}
	if !f.Time.IsZero() {
		row.Time = &f.Time
	}
	return &row
}

// known is nil for "".
func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
