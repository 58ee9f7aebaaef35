package aws

import (
	"encoding/base64"
	"slices"
	"strconv"
)

// Record is a resource: a value with a version, and a status that moves on by itself.
type Record[T any] struct {
	Key     string
	Value   T
	Version int
	Status  string
	next    []string
}

// Begin sets the status, and those that follow it. After the last one that is "", the
// resource is gone.
func (r *Record[T]) Begin(status string, then ...string) { r.Status, r.next = status, then }

// Busy reports a status that will move on.
func (r *Record[T]) Busy() bool { return len(r.next) > 0 }

// Table keeps the resources of one kind, in the order of their creation.
type Table[T any] struct{ records []*Record[T] }

// NewTable returns an empty table.
func NewTable[T any]() *Table[T] { return &Table[T]{} }

// Find returns the first record for which is holds, or nil.
func (t *Table[T]) Find(is func(*Record[T]) bool) *Record[T] {
	if i := slices.IndexFunc(t.records, is); i >= 0 {
		return t.records[i]
	}
	return nil
}

// Get returns the record with a key, or nil.
func (t *Table[T]) Get(key string) *Record[T] {
	return t.Find(func(r *Record[T]) bool { return r.Key == key })
}

// Add adds a record with version 1, or fails with a conflict.
func (t *Table[T]) Add(key string, value T) (*Record[T], *Error) {
	if t.Get(key) != nil {
		return nil, failf("ResourceInUse", "%s already exists", key)
	}
	r := &Record[T]{Key: key, Value: value, Version: 1}
	t.records = append(t.records, r)
	return r, nil
}

// Change changes a record. target is the version that the caller has read; nil is any.
// A record whose status is about to move on is in use.
func (t *Table[T]) Change(key string, target *int, change func(*Record[T]) *Error) *Error {
	r := t.Get(key)
	switch {
	case r == nil:
		return failf("ResourceNotFound", "%s not found", key)
	case target != nil && *target != r.Version:
		return failf("ConflictException", "the version of %s is %d, not %d", key, r.Version, *target)
	case r.Busy():
		return failf("ConflictException", "%s is in status %s", key, r.Status)
	}
	if failure := change(r); failure != nil {
		return failure
	}
	r.Version++
	return nil
}

// Seen moves the status of a record on, after it was read.
func (t *Table[T]) Seen(r *Record[T]) {
	if len(r.next) == 0 {
		return
	}
	r.Status, r.next = r.next[0], r.next[1:]
	if r.Status == "" {
		t.records = slices.DeleteFunc(t.records, func(x *Record[T]) bool { return x == r })
	}
}

// All returns the records.
func (t *Table[T]) All() []*Record[T] { return slices.Clone(t.records) }

// Page cuts a list: most elements from where the token says. The tokens are opaque.
func Page[E any](list []E, token string, most int) (page []E, next string, failure *Error) {
	start := 0
	if token != "" {
		text, err := base64.RawURLEncoding.DecodeString(token)
		if err == nil {
			start, err = strconv.Atoi(string(text))
		}
		if err != nil || start < 0 || start > len(list) {
			return nil, "", failf("ValidationException", "Invalid NextToken")
		}
	}
	if most <= 0 || most > 100 {
		most = 10
	}
	end := min(start+most, len(list))
	if end < len(list) {
		next = base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(end)))
	}
	return list[start:end], next, nil
}
