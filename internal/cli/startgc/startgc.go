// Package startgc turns off the garbage collector while the linked packages are initialized. What they allocate
// (about 8 MB, mostly tables of Kueue and Kubernetes) stays alive anyway, and collecting it costs a fifth of a
// start. Packages without pending imports are initialized in the order of their paths (Go specification,
// "Program initialization"); the import path of this package makes it one of the first. Only the program imports it,
// because whoever imports it has no garbage collector until collector.Delay: in a test, memory would grow without end.
package startgc

import "runtime/debug"

// normal is the setting of GOGC, in percent.
var normal = debug.SetGCPercent(-1)

// Normal returns GOGC as it was before, in percent.
func Normal() int { return normal }
