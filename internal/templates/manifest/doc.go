// Package manifest reads manifests as trees that know their lines: YAML within
// bounds, without what Kubernetes has no use for (tags, keys given twice, aliases
// without end), what is wrong with it in words, the placeholders in its scalars, and
// the text that is written again.
package manifest
