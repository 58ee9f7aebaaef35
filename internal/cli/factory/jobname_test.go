package factory

import "testing"

func TestSplitJob(t *testing.T) {
	for _, c := range []struct{ argument, given, kind, name string }{
		{"x", "", "", "x"},
		{"x", "MPIJob", "MPIJob", "x"},
		{"pytorchjob.kubeflow.org/x", "", "PyTorchJob", "x"},
		{"pytorchjob/x", "PyTorchJob", "PyTorchJob", "x"},
		{"job.batch/x", "", "Job", "x"},
	} {
		if kind, name, err := SplitJob(c.argument, c.given); err != nil || kind != c.kind || name != c.name {
			t.Errorf("%s: got %q, %q, %v", c.argument, kind, name, err)
		}
	}
	for _, argument := range []string{"dinner/x", "pytorchjob/", "mpijob.kubeflow.org/x"} {
		if _, _, err := SplitJob(argument, "PyTorchJob"); err == nil {
			t.Errorf("%s is accepted", argument)
		}
	}
}
