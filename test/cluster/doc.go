// Package cluster runs a real Kubernetes control plane for tests, without containers:
// etcd, kube-apiserver, kube-controller-manager, kube-scheduler, KWOK (fake nodes and pods),
// Kueue, the Kubeflow training-operator and mpi-operator, each a plain process built from
// its Go module.
//
// A Bed is one such cluster. Beds share nothing but binaries, so several can run side by side:
// the API server listens on a free loopback port and every operator lives in a network
// namespace of its own, where it keeps the ports it ships with.
package cluster
