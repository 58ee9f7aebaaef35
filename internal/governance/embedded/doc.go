// Package embedded is what Kueue's code needs to run in this process: its feature gates, a client without a cluster, silent
// loggers, and errors in place of panics.
//
// Feature gates live in a process-wide registry of Kubernetes: answers under different gates must not be computed at the same
// time in one process.
package embedded

import (
	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// Kueue's code writes to the loggers of the process. They are silenced before anything runs: clients in other goroutines
// read the same variable.
func init() {
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
}
