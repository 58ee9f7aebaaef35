// Package decode reads the objects that Kueue decides on from YAML and JSON.
package decode
