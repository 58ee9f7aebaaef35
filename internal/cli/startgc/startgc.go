// Package startgc holds the garbage collector back while the linked packages are
// initialised: what they allocate (about 8 MB, most of it Kueue's and
// Kubernetes' tables) stays alive anyway, and collecting meanwhile costs a fifth
// of a start. It has to be initialised before them, which its import path sees
// to: packages that are ready are initialised in the order of their paths (Go
// specification, "Program initialization").
package startgc

import "runtime/debug"

// normal is the setting of GOGC, in percent.
var normal = debug.SetGCPercent(-1)

// Restore lets the garbage collector work as GOGC says.
func Restore() { debug.SetGCPercent(normal) }
