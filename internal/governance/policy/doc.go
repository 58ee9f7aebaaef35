// Package policy is governance as code: teams, their quota and the policy of a cluster
// in one document, in the terms of SageMaker HyperPod task governance (compute
// allocations and cluster policy). It reads and writes the document, checks it against
// the service's rules, maps it to Kueue's objects and back, and compares two documents.
//
// Everything is a pure function of values. Findings and differences are values with
// codes; package present/policytext words them. The fields and their limits are those of
// the SageMaker API (CreateComputeQuota, CreateClusterSchedulerConfig). How the service
// maps them to Kueue is not documented: see Mapping.
package policy
