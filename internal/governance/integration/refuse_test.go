package integration_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
)

// TestRefusals are rules of Kueue's webhooks for kinds whose integration is not linked. test/fidelity asks the webhooks themselves.
func TestRefusals(t *testing.T) {
	const (
		queue   = `"labels":{"kueue.x-k8s.io/queue-name":"q"}`
		topics  = `"annotations":{"kueue.x-k8s.io/podset-required-topology":"rack","kueue.x-k8s.io/podset-preferred-topology":"rack"}`
		two     = "must not contain more than one topology annotation"
		pods    = `"spec":{"containers":[{"name":"c","image":"i"}]}`
		cluster = `"headGroupSpec":{"template":{` + pods + `}}`
	)
	for name, c := range map[string]struct{ job, want string }{
		"RayService that scales": {`{"apiVersion":"ray.io/v1","kind":"RayService","metadata":{"name":"s",` + queue + `},"spec":{"rayClusterConfig":{"enableInTreeAutoscaling":true,` + cluster + `}}}`,
			"spec.rayClusterConfig.enableInTreeAutoscaling: Invalid value: true"},
		"RayService that scales without a queue": {`{"apiVersion":"ray.io/v1","kind":"RayService","metadata":{"name":"s"},"spec":{"rayClusterConfig":{"enableInTreeAutoscaling":true,` + cluster + `}}}`, ""},
		"LeaderWorkerSet": {`{"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","metadata":{"name":"s",` + queue + `},"spec":{"leaderWorkerTemplate":{"size":2,"workerTemplate":{"metadata":{` + topics + `},` + pods + `}}}}`,
			"spec.leaderWorkerTemplate.workerTemplate.metadata.annotations: Invalid value: " + two},
		"Deployment, whose pods are refused": {`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"s",` + queue + `},"spec":{"template":{"metadata":{` + topics + `},` + pods + `}}}`, ""},
		"Pod":                                {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p",` + queue + `,` + topics + `},` + pods + `}`, "metadata.annotations: Invalid value: " + two},
		"Pod without the size of its group": {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"kueue.x-k8s.io/pod-group-name":"g"}},` + pods + `}`,
			"metadata.annotations[kueue.x-k8s.io/pod-group-total-count]: Required value: both"},
		"Pod without the name of its group": {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","annotations":{"kueue.x-k8s.io/pod-group-total-count":"2"}},` + pods + `}`,
			"metadata.labels[kueue.x-k8s.io/pod-group-name]: Required value: both"},
		"Pod of a group of none": {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"kueue.x-k8s.io/pod-group-name":"g"},"annotations":{"kueue.x-k8s.io/pod-group-total-count":"0"}},` + pods + `}`,
			`metadata.annotations[kueue.x-k8s.io/pod-group-total-count]: Invalid value: "0" is not a whole number of at least 1`},
		"AppWrapper in a queue without a valid name": {`{"apiVersion":"workload.codeflare.dev/v1beta2","kind":"AppWrapper","metadata":{"name":"a","labels":{"kueue.x-k8s.io/queue-name":"The_Queue"}},"spec":{"components":[{"template":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"template":{` + pods + `}}}}]}}`,
			`metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: "The_Queue"`},
	} {
		err := integration.Validate(context.Background(), []byte(c.job))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (!errors.Is(err, integration.ErrRefused) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, not %q", name, err, c.want)
		}
	}
}
