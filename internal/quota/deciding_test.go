package quota

import (
	"fmt"
	"testing"
)

// TestDeciding: accelerators decide before cpu, and a flavor that can never hold the job only where all cannot.
func TestDeciding(t *testing.T) {
	const prefix = "couldn't assign flavors to pod set main: "
	missing := func(resource, flavor, n string) string {
		return "insufficient unused quota for " + resource + " in flavor " + flavor + ", " + n + " more needed"
	}
	most := func(resource, flavor, n string) string {
		return "insufficient quota for " + resource + " in flavor " + flavor + ", previously considered podsets requests (0) + current podset request (20) > maximum capacity (" + n + ")"
	}
	for message, want := range map[string]string{
		"Workload is waiting": "[] false",
		prefix + missing("cpu", "a", "5") + ", " + missing("nvidia.com/gpu", "a", "8"):                                                                       "[{nvidia.com/gpu a 8 }] false",
		prefix + most("cpu", "a", "2") + ", " + most("nvidia.com/gpu", "a", "12"):                                                                            "[{nvidia.com/gpu a  12}] true",
		prefix + most("cpu", "a", "2") + ", " + missing("nvidia.com/gpu", "a", "8"):                                                                          "[{cpu a  2}] true",
		prefix + most("nvidia.com/gpu", "a", "2") + ", " + missing("cpu", "b", "5") + ", " + missing("nvidia.com/gpu", "b", "8"):                             "[{nvidia.com/gpu b 8 }] false",
		prefix + missing("nvidia.com/gpu", "a", "4") + ", " + missing("memory", "b", "5Gi") + ", " + missing("nvidia.com/gpu", "b", "8"):                     "[{nvidia.com/gpu a 4 } {nvidia.com/gpu b 8 }] false",
		prefix + missing("vpc.amazonaws.com/efa", "a", "4") + ", " + missing("memory", "a", "5Gi") + ", " + missing("aws.amazon.com/neurondevice", "a", "8"): "[{aws.amazon.com/neurondevice a 8 }] false",
	} {
		out, never := DecidingShortages(message)
		if got := fmt.Sprint(out, " ", never); got != want {
			t.Errorf("%s:\n%s, want %s", message, got, want)
		}
	}
}
