// Package jobobject reads and changes jobs of every kind by their rows in the table of kinds: roles, pods,
// processes, labels. It also removes what a cluster added to a job.
package jobobject
