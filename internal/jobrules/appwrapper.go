package jobrules

import (
	"github.com/hyperpod-cli/hyperpod/internal/faults"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// appWrapper checks the jobs in an AppWrapper. Its webhook does not look at them (internal/webhook/appwrapper_webhook.go of
// project-codeflare/appwrapper, v1.2): the API server refuses them when the AppWrapper controller creates them.
func appWrapper(c *checker) {
	faults.Each(c.spec["components"], func(i int, component map[string]any) {
		job := faults.Inner(component, "template")
		k, ok := kinds.JobFor(kinds.Text(job, "apiVersion"), kinds.Text(job, "kind"))
		if !ok {
			return
		}
		for _, fault := range append(ServerFaults(k, job, c.Open), OperatorFaults(k, job, c.Open)...) {
			fault.Path = spec("components", i, "template").To(fault.Path...)
			c.Found = append(c.Found, fault)
		}
	})
}
