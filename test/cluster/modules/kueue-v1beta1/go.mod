module hyperpod.test/kueue-v1beta1

go 1.25.0

require sigs.k8s.io/kueue v0.14.0
