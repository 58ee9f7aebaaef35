// Package oracle compares the admission engine with Kueue's own scheduling loop on
// random clusters, cycle by cycle: every workload's conditions and assignment.
//
// It also runs the cases of Kueue's own scheduler tests: first in a copy of Kueue that writes down what each gives the scheduler
// and what comes of it, then on the engine. Kueue's loop and the engine go on from each case, and from random changes of it.
//
// It is a module of its own, because the package it reaches into,
// sigs.k8s.io/kueue/pkg/scheduler, adds test dependencies to go mod tidy that the
// product must not have. Run it by hand and whenever Kueue is updated:
//
//	make oracle
//
// README.md describes how each comparison is made.
package oracle
