// Package templates turns a template and the values of one submission into the
// objects that are created. A template is a Kubernetes manifest, one or several
// YAML documents, with placeholders ${NAME} or $NAME. Placeholders are replaced
// in parsed scalars, never in text, so that a value can never add a field.
// Everything that flags, files and parameters say arrives as one Values, which
// is laid over the manifest by the same rules for every kind of job.
//
// The order of a rendering: parse, fill in placeholders, check against the
// known kinds' fields, lay the values over, carry out --set, check the result.
package templates
