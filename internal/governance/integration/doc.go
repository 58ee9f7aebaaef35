// Package integration is Kueue's code for job kinds, in process: the Workload of a job, the rules of Kueue's webhooks, and the job
// as Kueue starts and suspends it. Package admission decides about the Workloads.
//
// Kueue's own integrations are linked where they are small; the kinds of the others are described by package kinds.
package integration
