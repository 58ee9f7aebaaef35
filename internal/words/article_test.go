package words

import "testing"

func TestWithArticle(t *testing.T) {
	for noun, want := range map[string]string{"Job": "a Job", "MPIJob": "an MPIJob", "XGBoostJob": "an XGBoostJob", "PyTorchJob": "a PyTorchJob",
		"TFJob": "a TFJob", "RayCluster": "a RayCluster", "AppWrapper": "an AppWrapper", "": ""} {
		if got := WithArticle(noun); got != want {
			t.Errorf("%s: %q", noun, got)
		}
	}
}
