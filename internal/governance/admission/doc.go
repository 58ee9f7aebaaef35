// Package admission answers admission questions with Kueue's own scheduling
// core, in process: no API server, no timer, and no goroutine that outlives a call.
//
// An [Engine] is filled with API objects ([Engine.Load]), then either run until
// nothing changes any more ([Engine.Run]) or asked about one workload
// ([Engine.Probe]). Quota arithmetic, flavor assignment, preemption, fair
// sharing and topology-aware placement are Kueue's packages, called directly.
// What Kueue does not export, the scheduling loop of pkg/scheduler/scheduler.go
// and the two orders of scheduler.go and fair_sharing_iterator.go, is written
// again here; comments name the Kueue function a rule comes from. The nested
// module in oracle compares the result with Kueue's real loop.
//
// What the controllers around the scheduler do is reduced to its effect:
// an evicted workload is requeued at once, an admitted one holds its quota until
// [Engine.Remove] or until it is loaded again as finished.
//
// Decisions follow the rules of the Kueue version in go.mod. Not modelled, with
// a warning in the answer: what other clusters of MultiKueue decide, and the variants
// that Kueue makes of a workload with concurrent admission.
//
// Engines with different feature gates must not be used at the same time in one
// process (package embedded). An Engine is not safe for concurrent use.
package admission
