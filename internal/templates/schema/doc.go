// Package schema knows the fields of the kinds of objects that jobs consist of. It compares manifests with them
// as a strict decoder does, with line and column.
package schema
