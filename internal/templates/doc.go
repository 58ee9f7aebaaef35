// Package templates turns a template and the values of one submission into the
// objects that are created. A template is a Kubernetes manifest, one or several
// YAML documents, with placeholders ${NAME} or $NAME. Placeholders are replaced
// in parsed scalars, never in text, so that a value can never add a field.
// Flags, files and parameters all become one Values, which is applied to the manifest by
// the same rules for every kind of job.
//
// The order of a rendering: parse, fill in placeholders, check against the fields of the
// known kinds, apply the values, apply --set, check the result.
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
// Types are string, int, number, bool, quantity and list. An undeclared
// placeholder is a parameter where only a value makes sense (a number, a quantity, an
// image, a name). In commands, arguments, environment values, annotations and file
// contents it is a variable of the program.
//
// # Placeholders
//
// A scalar that is only a placeholder takes the value with its type, as far as the type of
// the field allows; a quoted one is text. Inside longer text the value is text, as it was
// written. ${NAME:-DEFAULT} has a default, but in text for a program it belongs to the
// shell and stays. A list in place of an item adds its items. $$NAME is
// never replaced; it becomes $NAME if NAME is a parameter.
// Parameters with well-known names (NODE_COUNT or NUM_NODES, IMAGE or IMAGE_URI,
// GPU_PER_NODE, ...; see package setting) get the values of flags. TORCHRUN_FLAGS and
// MPIRUN_FLAGS are computed.
//
// # Resources
//
// An instance type, or a number of accelerators, fills in what the manifest omits.
// Accelerators: by default all of the type, with requests equal to limits. EFA: the
// interfaces of the type in proportion to the accelerators, rounded down. CPU and memory:
// the same proportion of what the node has for pods, rounded down to whole cores and GiB,
// as requests only, so that quota counts them and the pods fit. On types without
// accelerators: the whole node.
package templates
