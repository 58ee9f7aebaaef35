package policy

import (
	"cmp"
	"reflect"
	"slices"
)

// Align returns a document whose teams are written as in another one where both mean the same objects of Kueue: 8
// accelerators of an instance type with 8 are one instance. Other teams stay as they are.
func Align(d, as *Document, m Mapping) *Document {
	t := newMapper(m)
	before := as.ByName()
	out := *d
	out.Teams = slices.Clone(d.Teams)
	for i := range out.Teams {
		if old := before[out.Teams[i].Team]; old != nil && !reflect.DeepEqual(*old, out.Teams[i]) && t.alike(old, &out.Teams[i]) {
			out.Teams[i] = *old
		}
	}
	return &out
}

// alike reports whether two teams mean the same objects of Kueue.
func (t *mapper) alike(a, b *Team) bool {
	x, err := t.spec(a)
	if err != nil {
		return false
	}
	y, err := t.spec(b)
	return err == nil && len(differing(x, y)) == 0 && a.Queue() == b.Queue() && slices.Equal(a.LocalQueues(), b.LocalQueues()) &&
		cmp.Or(a.Activation, Enabled) == cmp.Or(b.Activation, Enabled)
}
