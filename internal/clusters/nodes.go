package clusters

import "slices"

// Outcome is what a request about several nodes did to one of them.
type Outcome struct {
	// Node is the id of an instance, or the logical id of one that has none yet.
	Node string
	// Code is why the service refused; "" is success.
	Code    string
	Message string
}

// OK reports success.
func (o Outcome) OK() bool { return o.Code == "" }

// The most nodes that one request takes.
const (
	MaxReboot = 25
	MaxDelete = 99
	MaxCheck  = 500
	// MaxAdd is how many nodes one request adds to a group.
	MaxAdd = 50
)

// Batches cuts a list into parts of at most size elements.
func Batches[E any](list []E, size int) [][]E { return slices.Collect(slices.Chunk(list, size)) }

// Repair is a repair of nodes.
type Repair string

// The repairs.
const (
	Reboot  Repair = "reboot"
	Replace Repair = "replace"
	Delete  Repair = "delete"
)
