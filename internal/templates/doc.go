// Package templates turns a template and the values of one submission into the
// objects that are created. A template is a Kubernetes manifest, one or several
// YAML documents, with placeholders ${NAME} or $NAME. Placeholders are replaced
// in parsed scalars, never in text, so that a value can never add a field.
// Everything that flags, files and parameters say arrives as one Values, which
// is laid over the manifest by the same rules for every kind of job.
//
// The order of a rendering: parse, fill in placeholders, check against the
// known kinds' fields, lay the values over, carry out --set, check the result.
//
// # Header
//
// A first document without a kind, or a comment at the top, declares parameters:
//
//	description: what the template is for
//	parameters:
//	  STEPS: {type: int, default: 100, help: number of steps}
//	  MODEL: {type: string, required: true, enum: [7b, 13b], help: size of the model}
//
// Types are string, int, number, bool, quantity and list. A placeholder that
// nobody declares is a parameter where only a value makes sense (a number, a
// quantity, an image, a name), and a program's own variable in commands,
// arguments, environment values, annotations and file contents.
//
// # Placeholders
//
// A scalar that is only a placeholder takes the value with its type, as far as
// the field's type allows; quoted it is text. Inside longer text the value is
// text, as it is written. ${NAME:-DEFAULT} has a default, but where a program
// reads the text it is the shell's and stays. A list adds its items when it stands
// alone among a list's items. $$NAME keeps $NAME. Parameters of well-known names
// (NODE_COUNT or NUM_NODES, IMAGE or IMAGE_URI, GPU_PER_NODE, ...; see bind.go)
// get the flags' values. TORCHRUN_FLAGS and MPIRUN_FLAGS are computed.
//
// # Resources
//
// An instance type, or a number of accelerators, fills in what the manifest
// does not state. Accelerators: all of the type unless said, requests equal to
// limits. EFA: the type's interfaces in proportion to the accelerators, rounded
// down. CPU and memory: the same share of what the node leaves for pods, rounded
// down to whole cores and GiB, as requests only, so that quota counts them and
// the pods fit. On types without accelerators: the whole node.
package templates
