package sandbox

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// A Pod and a batch Job are refused in the words of the API server. Other kinds are known by their schemas alone.
func TestContainersOfPods(t *testing.T) {
	b := newBench(t, "john-smith")
	const label = `a lowercase RFC 1123 label must consist of`
	for name, c := range map[string]struct {
		spec string
		code int
		want []string // each after the path of the pod's spec
	}{
		"valid": {`{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"name":"http"},{"containerPort":65535,"protocol":"UDP","hostPort":1}],
			"resources":{"requests":{"cpu":"1","memory":"1Gi","nvidia.com/gpu":1},"limits":{"cpu":"1500m","nvidia.com/gpu":"1","hugepages-2Mi":"2Mi","vpc.amazonaws.com/efa":4}}}],
			"initContainers":[{"name":"first","image":"i"}]}`, 201, nil},
		"no spec":                  {`null`, 422, []string{"containers: Required value"}},
		"no containers":            {`{"containers":[]}`, 422, []string{"containers: Required value"}},
		"an empty container":       {`{"containers":[{}]}`, 422, []string{"containers[0].name: Required value", "containers[0].image: Required value"}},
		"an invalid name":          {`{"containers":[{"name":"A_b","image":"i"}]}`, 422, []string{`containers[0].name: Invalid value: "A_b": ` + label}},
		"a name twice":             {`{"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]}`, 422, []string{`containers[1].name: Duplicate value: "c"`}},
		"a name of both lists":     {`{"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"c","image":"i"}]}`, 422, []string{`initContainers[0].name: Duplicate value: "c"`}},
		"no image of an init":      {`{"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"d"}]}`, 422, []string{`initContainers[0].image: Required value`}},
		"no port":                  {port(`{"name":"http"}`), 422, []string{"containers[0].ports[0].containerPort: Required value"}},
		"a port of 0":              {port(`{"containerPort":0}`), 422, []string{"containers[0].ports[0].containerPort: Required value"}},
		"a port too high":          {port(`{"containerPort":70000}`), 422, []string{"containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"}},
		"a negative port":          {port(`{"containerPort":-1}`), 422, []string{"containers[0].ports[0].containerPort: Invalid value: -1: must be between 1 and 65535, inclusive"}},
		"a port of the host":       {port(`{"containerPort":1,"hostPort":65536}`), 422, []string{"containers[0].ports[0].hostPort: Invalid value: 65536: must be between"}},
		"a protocol":               {port(`{"containerPort":1,"protocol":"HTTP"}`), 422, []string{`containers[0].ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"`}},
		"a port's name":            {port(`{"containerPort":1,"name":"a_name_of_16_char"}`), 422, []string{`containers[0].ports[0].name: Invalid value: "a_name_of_16_char": must be no more than 15 characters`, "must contain only alpha-numeric characters"}},
		"a port's name twice":      {port(`{"containerPort":1,"name":"a"},{"containerPort":2,"name":"a"}`), 422, []string{`containers[0].ports[1].name: Duplicate value: "a"`}},
		"a negative request":       {amounts(`"requests":{"cpu":"-1"}`), 422, []string{`containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`}},
		"a negative limit":         {amounts(`"limits":{"memory":"-1Gi"}`), 422, []string{`containers[0].resources.limits[memory]: Invalid value: "-1Gi": must be greater than or equal to 0`}},
		"a malformed amount":       {amounts(`"limits":{"memory":"4 GB"}`), 400, []string{"quantities must match the regular expression"}},
		"a request over its limit": {amounts(`"requests":{"cpu":"2"},"limits":{"cpu":"1"}`), 422, []string{`containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`}},
		"devices without a limit":  {amounts(`"requests":{"nvidia.com/gpu":1}`), 422, []string{"containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources"}},
		"devices below the limit":  {amounts(`"requests":{"nvidia.com/gpu":1},"limits":{"nvidia.com/gpu":2}`), 422, []string{`containers[0].resources.requests: Invalid value: "1": must be equal to nvidia.com/gpu limit of 2`}},
		"a part of a device":       {amounts(`"limits":{"nvidia.com/gpu":"500m"}`), 422, []string{`containers[0].resources.limits[nvidia.com/gpu]: Invalid value: "500m": must be an integer`}},
		"an unknown resource":      {amounts(`"limits":{"gpu":1}`), 422, []string{`containers[0].resources.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers`}},
		"a resource's name":        {amounts(`"limits":{"a b":1}`), 422, []string{`containers[0].resources.limits[a b]: Invalid value: "a b": name part must consist of`}},
	} {
		t.Run(name, func(t *testing.T) {
			batch := strings.Replace(c.spec, "{", `{"restartPolicy":"Never",`, 1)
			for _, o := range []struct{ url, at, body string }{
				{kinds.Pod.Path("default", ""), "spec.", `{"metadata":{"generateName":"x-"},"spec":` + c.spec + `}`},
				{kinds.BatchJob.Path("default", ""), "spec.template.spec.", `{"metadata":{"generateName":"x-"},"spec":{"template":{"spec":` + batch + `}}}`},
			} {
				a := b.send("POST", o.url, o.body)
				text := object.Text(a.object(t), "message")
				if a.code != c.code {
					t.Fatalf("%s: %d %s", o.url, a.code, text)
				}
				for _, want := range c.want {
					if strings.HasPrefix(want, "containers") || strings.HasPrefix(want, "initContainers") {
						want = o.at + want
					}
					if !strings.Contains(text, want) {
						t.Errorf("%s: %s\nhas no %s", o.url, text, want)
					}
				}
			}
		})
	}
	job := pytorch("j", "x", 1, 1)
	pods := object.At(job, "spec", "pytorchReplicaSpecs", "Worker", "template", "spec")
	object.List(pods, "containers")[0].(map[string]any)["ports"] = []any{map[string]any{"containerPort": 70000}}
	b.must(201, "POST", kinds.PyTorchJob.Path("default", ""), mustJSON(t, job))
}

// Deployments, StatefulSets and CronJobs have pods of Kubernetes' own. A pod that waits for a queue has no node yet, and the
// priority classes of the system exist.
func TestPodsOfKubernetesKinds(t *testing.T) {
	b := newBench(t, "john-smith")
	pod := `{"containers":[{"name":"c","image":"i"}]}`
	serving := func(selector, labels, spec string) string {
		return `{"metadata":{"generateName":"x-"},"spec":{` + selector + `"template":{"metadata":{"labels":{` + labels + `}},"spec":` + spec + `}}}`
	}
	const app = `"selector":{"matchLabels":{"app":"x"}},`
	queued := `{"metadata":{"generateName":"x-","labels":{"kueue.x-k8s.io/queue-name":"hyperpod-ns-smith-localqueue"}},"spec":`
	for _, c := range []struct {
		url, body string
		code      int
		want      string
	}{
		{kinds.Deployment.Path("default", ""), serving(app, `"app":"x"`, pod), 201, ""},
		{kinds.Deployment.Path("default", ""), serving("", `"app":"x"`, pod), 422, "spec.selector: Required value"},
		{kinds.StatefulSet.Path("default", ""), strings.Replace(serving(app, `"app":"x"`, pod), `"generateName":"x-"`, `"name":"a.b"`, 1), 422, `metadata.name: Invalid value: "a.b"`},
		{rbacPath + "clusterroles", `{"metadata":{"name":"team:viewer"},"rules":[]}`, 201, ""},
		{rbacPath + "clusterroles", `{"metadata":{"name":"team/viewer"},"rules":[]}`, 422, `metadata.name: Invalid value: "team/viewer"`},
		{kinds.StatefulSet.Path("default", ""), serving(app, `"app":"y"`, pod), 422, "spec.template.metadata.labels: Invalid value: {\"app\":\"y\"}: `selector` does not match template `labels`"},
		{kinds.Deployment.Path("default", ""), serving(app, `"app":"x"`, `{"restartPolicy":"Never",`+pod[1:]), 422, `spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`},
		{kinds.StatefulSet.Path("default", ""), serving(`"volumeClaimTemplates":[{"metadata":{"name":"d"}}],`+app, `"app":"x"`, `{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"d","mountPath":"/d"}]}]}`), 201, ""},
		{kinds.Deployment.Path("default", ""), serving(app, `"app":"x"`, `{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"d","mountPath":"/d"}]}]}`), 422, `spec.template.spec.containers[0].volumeMounts[0].name: Not found: "d"`},
		{kinds.Pod.Path("hyperpod-ns-smith", ""), queued + `{"nodeName":"n",` + pod[1:] + `}`, 422, "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"},
		{kinds.Pod.Path("hyperpod-ns-smith", ""), queued + `{"priorityClassName":"system-node-critical",` + pod[1:] + `}`, 201, ""},
	} {
		a := b.send("POST", c.url, c.body)
		if text := object.Text(a.object(t), "message"); a.code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s, want %d %s", c.body, a.code, text, c.code, c.want)
		}
	}
	b.must(200, "GET", kinds.PriorityClass.Path("", "system-node-critical"), "")
}

func port(ports string) string {
	return `{"containers":[{"name":"c","image":"i","ports":[` + ports + `]}]}`
}

func amounts(resources string) string {
	return `{"containers":[{"name":"c","image":"i","resources":{` + resources + `}}]}`
}
