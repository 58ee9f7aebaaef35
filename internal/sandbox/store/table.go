package store

import (
	"maps"
	"slices"
	"sort"
)

// table holds the objects of one kind by key and in the order of their keys: the controllers read lists far more often
// than they write objects. A nil table is empty.
type table struct {
	byKey  map[Key]*Object
	sorted []*Object
}

func (t *table) clone() *table {
	return &table{byKey: maps.Clone(t.byKey), sorted: slices.Clone(t.sorted)}
}

func (t *table) get(k Key) *Object {
	if t == nil {
		return nil
	}
	return t.byKey[k]
}

// at returns where a key is, or would be.
func (t *table) at(k Key) int {
	if n := len(t.sorted); n > 0 && Compare(t.sorted[n-1].Key, k) < 0 {
		return n // files are in this order
	}
	i, _ := slices.BinarySearchFunc(t.sorted, k, func(o *Object, k Key) int { return Compare(o.Key, k) })
	return i
}

func (t *table) set(o *Object) {
	i := t.at(o.Key)
	if t.byKey[o.Key] != nil {
		t.sorted[i] = o
	} else {
		t.sorted = slices.Insert(t.sorted, i, o)
	}
	t.byKey[o.Key] = o
}

func (t *table) remove(k Key) {
	i := t.at(k)
	t.sorted = slices.Delete(t.sorted, i, i+1)
	delete(t.byKey, k)
}

// in returns the objects of a namespace ("" = all). They are the table's: the caller copies what it keeps or changes.
func (t *table) in(namespace string) []*Object {
	switch {
	case t == nil:
		return nil
	case namespace == "":
		return t.sorted
	}
	from := sort.Search(len(t.sorted), func(i int) bool { return t.sorted[i].Namespace >= namespace })
	to := from + sort.Search(len(t.sorted)-from, func(i int) bool { return t.sorted[from+i].Namespace > namespace })
	return t.sorted[from:to]
}
