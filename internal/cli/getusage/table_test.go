package getusage

import (
	"fmt"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/usage"
)

// TestManyJobs: the table has the jobs that used most, one row for all others, and the total; a wide one has all jobs.
func TestManyJobs(t *testing.T) {
	const gpu = "nvidia.com/gpu"
	d := &usage.Document{Total: usage.Sums{Used: usage.Hours{gpu: 500500}, Waited: usage.Hours{}, Borrowed: usage.Hours{}}}
	for i := range 1000 {
		d.Jobs = append(d.Jobs, usage.JobRow{Name: fmt.Sprintf("job-%d", 1000-i), Sums: usage.Sums{Used: usage.Hours{gpu: float64(1000 - i)}}})
	}
	o := &Options{}
	short, wide := o.table(d, false).Rows, o.table(d, true).Rows
	if len(short) != output.MostRows+2 || len(wide) != 1001 {
		t.Fatal(len(short), len(wide))
	}
	if rest := short[output.MostRows]; rest[0].Text != "960 more (see -o wide)" || rest[3].Text != "461280.0 gpu-h" {
		t.Error(rest)
	}
}
