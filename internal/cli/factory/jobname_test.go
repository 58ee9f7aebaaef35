package factory

import "testing"

func TestSplitJob(t *testing.T) {
	for _, c := range []struct {
		argument, given string
		want            JobArgument
	}{
		{"x", "", JobArgument{Name: "x"}},
		{"x", "MPIJob", JobArgument{Kind: "MPIJob", Name: "x"}},
		{"pytorchjob.kubeflow.org/x", "", JobArgument{Kind: "PyTorchJob", Name: "x"}},
		{"pytorchjob/x", "PyTorchJob", JobArgument{Kind: "PyTorchJob", Name: "x"}},
		{"job.batch/x", "", JobArgument{Kind: "Job", Name: "x"}},
		{"hyperpod-ns-a/x", "MPIJob", JobArgument{Namespace: "hyperpod-ns-a", Kind: "MPIJob", Name: "x"}},
	} {
		if got, err := SplitJob(c.argument, c.given); err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v", c.argument, got, err)
		}
	}
	for _, argument := range []string{"dinner.example.com/x", "pytorchjbo/x", "pytorchjob/", "team/", "/x", "Team/x", "team/job/x", "mpijob.kubeflow.org/x"} {
		if got, err := SplitJob(argument, "PyTorchJob"); err == nil {
			t.Errorf("%s is accepted: %+v", argument, got)
		}
	}
}

func TestJobArgumentIn(t *testing.T) {
	for _, c := range []struct {
		argument, given, want string
		wrong                 bool
	}{
		{"x", "b", "b", false}, {"a/x", "", "a", false}, {"a/x", "a", "a", false}, {"a/x", "b", "", true},
	} {
		a, err := SplitJob(c.argument, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.In(c.given); got != c.want || (err != nil) != c.wrong {
			t.Errorf("%s in %q: %q, %v", c.argument, c.given, got, err)
		}
	}
}
