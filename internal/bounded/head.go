package bounded

import "bytes"

// Head keeps the first bytes of what is written, up to a limit, and discards the rest. It has no other way to write than
// Write: a ReadFrom or WriteString of an embedded buffer would know no limit, and io.Copy prefers them.
type Head struct {
	kept bytes.Buffer
	most int
	over bool
}

// NewHead returns a Head that keeps most bytes.
func NewHead(most int) *Head { return &Head{most: most} }

// Write implements io.Writer. It never fails.
func (h *Head) Write(p []byte) (int, error) {
	n := min(len(p), h.most-h.kept.Len())
	h.over = h.over || n < len(p)
	h.kept.Write(p[:n])
	return len(p), nil
}

// Len is the number of bytes that are kept.
func (h *Head) Len() int { return h.kept.Len() }

// String returns what is kept.
func (h *Head) String() string { return h.kept.String() }

// Over reports whether something was discarded.
func (h *Head) Over() bool { return h.over }
