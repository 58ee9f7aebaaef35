// Package manifest reads manifests as trees with line numbers, and writes them. It limits the YAML (no tags,
// duplicate keys or endless aliases), words its faults, and finds placeholders in its scalars.
package manifest
