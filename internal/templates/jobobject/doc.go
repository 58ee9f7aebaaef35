// Package jobobject reads and changes jobs of every kind by their rows in the table of
// kinds: roles, pods, processes, labels. It also takes back what a cluster has
// written on a job.
package jobobject
