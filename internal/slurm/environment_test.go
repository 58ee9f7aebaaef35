package slurm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSbatchEnvironment: variables of sbatch change nothing that the script states.
func TestSbatchEnvironment(t *testing.T) {
	out, used, dropped := Script{Partition: "dev"}.SbatchEnvironment([]string{"HOME=/h", "SBATCH_PARTITION=small", "SBATCH_ACCOUNT=ml", "SBATCH_EXCLUSIVE=1", "SBATCH_QOS=", "SLURM_CONF=/c"})
	for _, c := range []struct{ got, want []string }{
		{out, []string{"HOME=/h", "SBATCH_ACCOUNT=ml", "SLURM_CONF=/c"}},
		{used, []string{"SBATCH_ACCOUNT=ml"}},
		{dropped, []string{"SBATCH_EXCLUSIVE", "SBATCH_PARTITION"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Error(diff)
		}
	}
}
