package podrules

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func check(t *testing.T, spec string, o Options) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(spec), &m); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range Check(m, o) {
		out = append(out, f.Error(field.NewPath("spec")).Error())
	}
	return strings.Join(out, "\n")
}

// The faults of a pod have the API server's words (kube-apiserver 1.35, dry runs of these pods).
func TestFaultsOfPods(t *testing.T) {
	one := func(fields string) string {
		return `{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"a","image":"i",` + fields + `}]}`
	}
	pod := func(fields string) string { return `{` + fields + `,"containers":[{"name":"a","image":"i"}]}` }
	nodes := func(term string) string {
		return pod(`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` + term + `]}}}`)
	}
	for name, c := range map[string]struct{ spec, want string }{
		"protocol":             {one(`"ports":[{"containerPort":80,"protocol":"tcp"}]`), `containers[0].ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"`},
		"host's port":          {`{"hostNetwork":true,"containers":[{"ports":[{"containerPort":80,"hostPort":81}]}]}`, "ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"},
		"unknown volume":       {one(`"volumeMounts":[{"name":"w","mountPath":"/x"}]`), `containers[0].volumeMounts[0].name: Not found: "w"`},
		"mounted twice":        {one(`"volumeMounts":[{"name":"v","mountPath":"/x"},{"name":"v","mountPath":"/x"}]`), `volumeMounts[1].mountPath: Invalid value: "/x": must be unique`},
		"no mount path":        {one(`"volumeMounts":[{"name":"v"}]`), `volumeMounts[0].mountPath: Required value`},
		"volume twice":         {pod(`"volumes":[{"name":"v"},{"name":"v"}]`), `volumes[1].name: Duplicate value: "v"`},
		"two sources":          {pod(`"volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/x"}}]`), `volumes[0].hostPath: Forbidden: may not specify more than 1 volume type`},
		"claim without name":   {pod(`"volumes":[{"name":"v","persistentVolumeClaim":{}}]`), `volumes[0].persistentVolumeClaim.claimName: Required value`},
		"type of a path":       {pod(`"volumes":[{"name":"v","hostPath":{"path":"/x","type":"Dir"}}]`), `hostPath.type: Unsupported value: "Dir"`},
		"mode":                 {pod(`"volumes":[{"name":"v","configMap":{"name":"c","defaultMode":7777}}]`), `configMap.defaultMode: Invalid value: 7777: must be a number between 0 and 0777`},
		"variable's name":      {one(`"env":[{"value":"x"}]`), `env[0].name: Required value`},
		"value twice":          {one(`"env":[{"name":"a","value":"x","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]`), "env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty"},
		"field of a pod":       {one(`"env":[{"name":"a","valueFrom":{"fieldRef":{"fieldPath":"spec.foo"}}}]`), "error converting fieldPath: field label not supported: spec.foo"},
		"devices":              {one(`"resources":{"requests":{"nvidia.com/gpu":1}}`), `containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources`},
		"name of a resource":   {one(`"resources":{"limits":{"gpu":1}}`), `containers[0].resources.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers`},
		"pages alone":          {one(`"resources":{"limits":{"hugepages-2Mi":"4Mi"}}`), `containers[0].resources: Forbidden: HugePages require cpu or memory`},
		"claim of a container": {one(`"resources":{"claims":[{"name":"x"}]}`), `resources.claims[0]: Not found: "x"`},
		"claim twice":          {`{"resourceClaims":[{"name":"x","resourceClaimName":"y"}],"containers":[{"name":"a","resources":{"claims":[{"name":"x"},{"name":"x"}]}}]}`, `containers[0].resources.claims[1]: Duplicate value: "x"`},
		"part of a page":       {one(`"resources":{"limits":{"hugepages-2Mi":"3Mi","cpu":1}}`), `containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`},
		"size of a page":       {one(`"resources":{"limits":{"hugepages-foo":"4Mi","cpu":1}}`), `4Mi is not positive integer multiple of hugepages-foo`},
		"pages limit":          {one(`"resources":{"limits":{"hugepages-2Mi":"4Mi","cpu":1},"requests":{"hugepages-2Mi":"2Mi"}}`), `containers[0].resources.requests: Invalid value: "2Mi": must be equal to hugepages-2Mi limit of 4Mi`},
		"devices of a pod":     {pod(`"resources":{"limits":{"nvidia.com/gpu":1}}`), `spec.resources.limits[nvidia.com/gpu]: Unsupported value: "nvidia.com/gpu": supported values: "cpu", "hugepages-", "memory"`},
		"claims of a pod":      {pod(`"resources":{"claims":[{"name":"x"}]}`), `spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level`},
		"less for the pod":     {`{"resources":{"requests":{"cpu":"500m"}},"containers":[{"name":"a","resources":{"requests":{"cpu":1}}}]}`, `spec.resources.requests[cpu]: Invalid value: "500m": must be greater than or equal to aggregate container requests of 1`},
		"devices' amount":      {one(`"env":[{"name":"a","valueFrom":{"resourceFieldRef":{"resource":"limits.nvidia.com/gpu"}}}]`), `env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.nvidia.com/gpu"`},
		"gate twice":           {pod(`"schedulingGates":[{"name":"a.b/c"},{"name":"a.b/c"}]`), `schedulingGates[1]: Duplicate value: "a.b/c"`},
		"resize":               {`{"restartPolicy":"Never","containers":[{"name":"a","resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]}]}`, "containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when `restartPolicy` is 'Never'"},
		"toleration":           {pod(`"tolerations":[{"key":"a","operator":"Exists","value":"x"}]`), "tolerations[0].operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'"},
		"effect":               {pod(`"tolerations":[{"key":"a","operator":"Exists","effect":"NoSchedul"}]`), `tolerations[0].effect: Unsupported value: "NoSchedul"`},
		"operator":             {nodes(`{"matchExpressions":[{"key":"a","operator":"in","values":["x"]}]}`), `matchExpressions[0].operator: Invalid value: "in": not a valid selector operator`},
		"values":               {nodes(`{"matchExpressions":[{"key":"a","operator":"In"}]}`), "matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
		"terms":                {nodes(``), `nodeSelectorTerms: Required value: must have at least one node selector term`},
		"topology":             {pod(`"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}`), `[0].topologyKey: Required value: can not be empty`},
		"spread":               {pod(`"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"k","whenUnsatisfiable":"Never"}]`), `whenUnsatisfiable: Unsupported value: "Never"`},
		"restart policy":       {pod(`"restartPolicy":"never"`), `spec.restartPolicy: Unsupported value: "never": supported values: "Always", "OnFailure", "Never"`},
		"node's name":          {pod(`"nodeName":"NODE_NAME"`), `spec.nodeName: Invalid value: "NODE_NAME"`},
		"node selector":        {pod(`"nodeSelector":{"a b":"x"}`), `spec.nodeSelector: Invalid value: "a b": name part must consist of`},
		"value of a selector":  {pod(`"nodeSelector":{"a":"x y"}`), `spec.nodeSelector: Invalid value: "x y": a valid label must be`},
		"service account":      {pod(`"serviceAccountName":"A_b"`), `spec.serviceAccountName: Invalid value: "A_b"`},
		"probe":                {one(`"livenessProbe":{}`), `livenessProbe: Required value: must specify a handler type`},
		"probe's port":         {one(`"livenessProbe":{"httpGet":{"path":"/"}}`), `livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535`},
		"privileged":           {one(`"securityContext":{"privileged":true,"allowPrivilegeEscalation":false}`), "securityContext: Invalid value: \"\": cannot set `allowPrivilegeEscalation` to false and `privileged` to true"},

		"valid": {`{"volumes":[{"name":"v"},{"name":"w","emptyDir":null,"configMap":{"name":"c","defaultMode":420}}],"restartPolicy":"Never",
			"tolerations":[{"operator":"Exists"},{"key":"a","value":"b","effect":"NoExecute","tolerationSeconds":3}],
			"initContainers":[{"name":"s","restartPolicy":"Always","livenessProbe":{"exec":{"command":["x"]}}}],
			"containers":[{"name":"a","ports":[{"containerPort":80}],"env":[{"name":"a.b","value":""},{"name":"n","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['a']"}}}],
				"volumeMounts":[{"name":"v","mountPath":"/x"},{"name":"w","mountPath":"/x/y","subPath":"a/b"}],
				"resources":{"requests":{"cpu":"1 ","ephemeral-storage":"1Gi"},"limits":{"nvidia.com/mig-1g.5gb":1,"google.com/tpu":4,"cpu":"1500m"}}}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := check(t, c.spec, Options{})
			if c.want == "" && got != "" || !strings.Contains(got, c.want) || strings.Count(got, "\n") > 0 {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Placeholders are values of any text, and a claim template of the object or its operator adds volumes.
func TestFaultsThatCannotBeKnown(t *testing.T) {
	open := Options{Open: func(s string) bool { return strings.Contains(s, "$") }}
	if got := check(t, `{"nodeName":"$N","volumes":[{"name":"$V"}],"containers":[{"ports":[{"containerPort":"$P","protocol":"$Q"}],"volumeMounts":[{"name":"x","mountPath":"$M"},{"name":"y","mountPath":"$M"}],
		"resources":{"requests":{"nvidia.com/gpu":"$G"},"limits":{"$D":1}}}]}`, open); got != "" {
		t.Error(got)
	}
	mount := `{"containers":[{"volumeMounts":[{"name":"data","mountPath":"/x"}]}]}`
	for _, o := range []Options{{Volumes: []string{"data"}}, {Partial: true}} {
		if got := check(t, mount, o); got != "" {
			t.Error(got)
		}
	}
	claim := func(name string) []any {
		return []any{map[string]any{"metadata": map[string]any{"name": name}}}
	}
	inner := map[string]any{"spec": map[string]any{"volumeClaimTemplates": claim("d")}}
	claims := ClaimVolumes(map[string]any{"spec": map[string]any{
		"volumeClaimTemplates": claim("a"),
		"volumeClaimPolicies":  []any{map[string]any{"templates": claim("b")}},
		"leaderWorkerTemplate": map[string]any{"volumeClaimTemplates": claim("c")},
		"components":           []any{map[string]any{"template": inner}},
	}})
	if strings.Join(claims, " ") != "a b c d" {
		t.Error(claims)
	}
}

// The selector of a Deployment must match the labels of its pods.
func TestServing(t *testing.T) {
	for spec, want := range map[string]string{
		`{"template":{}}`:               "spec.selector: Required value",
		`{"selector":{},"template":{}}`: "spec.selector: Invalid value: \"\": empty selector is invalid for deployment",
		`{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"c"}}}}`:                                  "spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not match template `labels`",
		`{"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]},"template":{}}`:                                    "`selector` does not match template `labels`",
		`{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never"}}}`: `spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
		`{"replicas":-1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}}}}`:                    `spec.replicas: Invalid value: -1: must be greater than or equal to 0`,
		`{"replicas":0,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b","c":"d"}}}}`:             "",
	} {
		var m map[string]any
		if err := json.Unmarshal([]byte(spec), &m); err != nil {
			t.Fatal(err)
		}
		var got string
		for _, f := range Serving(m, nil) {
			got += f.Error(field.NewPath("spec")).Error()
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
}

// What a batch Job and a CronJob have besides their pods.
func TestJobs(t *testing.T) {
	rollouts := func(m map[string]any, open func(string) bool) []Fault {
		m["selector"] = map[string]any{"matchLabels": map[string]any{"a": "b"}}
		m["template"] = map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}
		return Serving(m, open)
	}
	for _, c := range []struct {
		rules      func(map[string]any, func(string) bool) []Fault
		spec, want string
	}{
		{Job, `{"backoffLimit":-1}`, "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0"},
		{Job, `{"completionMode":"indexed"}`, `spec.completionMode: Unsupported value: "indexed": supported values: "NonIndexed", "Indexed"`},
		{Job, `{"completionMode":"Indexed","parallelism":2}`, "spec.completions: Required value: when completion mode is Indexed"},
		{Job, `{"backoffLimitPerIndex":1}`, "spec.backoffLimitPerIndex: Invalid value: \"\": requires indexed completion mode"},
		{Job, `{"podFailurePolicy":{"rules":[{"action":"FailJob"}]}}`, "specifying one of OnExitCodes and OnPodConditions is required"},
		{Job, `{"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]},"template":{"spec":{"restartPolicy":"OnFailure"}}}`,
			`only "Never" is supported when podFailurePolicy is specified`},
		{Job, `{"completionMode":"Indexed","completions":200000,"parallelism":200000}`, "spec.parallelism: Invalid value: 200000: must be less than or equal to 100000 when completion mode is Indexed"},
		{Job, `{"completionMode":"Indexed","completions":3,"backoffLimitPerIndex":1,"maxFailedIndexes":5}`, "spec.maxFailedIndexes: Invalid value: 5: must be less than or equal to completions"},
		{Job, `{"managedBy":"foo"}`, `spec.managedBy: Invalid value: "foo": must be a domain-prefixed path (such as "acme.io/foo")`},
		{Job, `{"managedBy":"kueue.x-k8s.io/multikueue"}`, ""},
		{Job, `{"podFailurePolicy":{"rules":[{"action":"FailIndex","onExitCodes":{"operator":"In","values":[42]}}]}}`, `rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`},
		{Job, `{"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[3,1]}}]}}`, `rules[0].onExitCodes.values: Invalid value: "": must be ordered`},
		{Job, `{"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[1,1]}}]}}`, `rules[0].onExitCodes.values[1]: Duplicate value: "1"`},
		{Job, `{"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[1]},"onPodConditions":[{"type":"DisruptionTarget"}]}]}}`, "specifying both OnExitCodes and OnPodConditions is not supported"},
		{Job, `{"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"containerName":"b","operator":"In","values":[1]}}]},"template":{"spec":{"containers":[{"name":"a"}]}}}`,
			`onExitCodes.containerName: Invalid value: "b": must be one of the container or initContainer names in the pod template`},
		{Job, `{"podFailurePolicy":{"rules":[{"action":"FailJob","onPodConditions":[{"type":"Foo","status":"Maybe"}]}]}}`, `onPodConditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`},
		{Job, `{"podReplacementPolicy":"TerminatingOrFailed","podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"NotIn","values":[0]}}]}}`,
			`spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"`},
		{Job, `{"completionMode":"Indexed","completions":3,"successPolicy":{}}`, "successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified"},
		{Job, `{"completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{}]}}`, "rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified"},
		{Job, `{"completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{"succeededIndexes":"0-5"}]}}`, `succeededIndexes: Invalid value: "0-5": error parsing succeededIndexes: too large index: "5"`},
		{Job, `{"completionMode":"Indexed","completions":5,"successPolicy":{"rules":[{"succeededIndexes":"3,1"}]}}`, "non-increasing order, previous: 3, current: 1"},
		{Job, `{"completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{"succeededIndexes":"0-1","succeededCount":3}]}}`,
			"succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)"},
		{Job, `{"completionMode":"Indexed","completions":6,"successPolicy":{"rules":[{"succeededIndexes":"0,2-4","succeededCount":4}]}}`, ""},
		{Job, `{"completionMode":"Indexed","backoffLimitPerIndex":1,"ttlSecondsAfterFinished":0,"parallelism":0,"completions":3}`, ""},
		{CronJob, `{"schedule":"bad"}`, `spec.schedule: Invalid value: "bad": expected exactly 5 fields`},
		{CronJob, `{"schedule":"@reboot"}`, `"@reboot": unrecognized descriptor: @reboot`},
		{CronJob, `{"schedule":"60 * * * *"}`, "end of range (60) above maximum (59): 60"},
		{CronJob, `{"schedule":"0 0 * * 7"}`, "end of range (7) above maximum (6): 7"},
		{CronJob, `{"schedule":"H * * * *"}`, `failed to parse int from H: strconv.Atoi: parsing "H": invalid syntax`},
		{CronJob, `{"schedule":"*/0 * * * *"}`, "step of range should be a positive number: */0"},
		{CronJob, `{"schedule":"5-1 * * * *"}`, "beginning of range (5) beyond end of range (1): 5-1"},
		{CronJob, `{"schedule":"*/5 0-12/2,20 ? Jan-MAR,12 mon-fri"}`, ""},
		{CronJob, `{"schedule":"@every 1h30m"}`, ""},
		{CronJob, `{}`, "spec.schedule: Required value"},
		{CronJob, `{"schedule":"@hourly","concurrencyPolicy":"forbid"}`, `spec.concurrencyPolicy: Unsupported value: "forbid"`},
		{CronJob, `{"schedule":"0 3 * * 1-5","timeZone":"Etc/UTC"}`, ""},
		{CronJob, `{"schedule":"@daily","timeZone":""}`, `spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string`},
		{CronJob, `{"schedule":"@daily","timeZone":"local"}`, `timeZone must be an explicit time zone`},
		{CronJob, `{"schedule":"@daily","jobTemplate":{"spec":{"selector":{"matchLabels":{"a":"b"}}}}}`, "spec.jobTemplate.spec.selector: Invalid value: \"\": `selector` will be auto-generated"},
		{Selector, `{"selector":{"matchLabels":{"app":"a"}}}`, "`selector` not auto-generated"},
		{Selector, `{"selector":{"matchLabels":{"app":"a"}},"manualSelector":true,"template":{"metadata":{"labels":{"app":"a"}}}}`, ""},
		{Selector, `{"selector":{"matchLabels":{"app":"a"}},"manualSelector":true,"template":{"metadata":{"labels":{"app":"b"}}}}`, "spec.template.metadata.labels: Invalid value: {\"app\":\"b\"}: `selector` does not match template `labels`"},
		{Selector, `{"manualSelector":true,"template":{}}`, "spec.selector: Required value"},
		{Selector, `{"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"u"}}}`, ""},
		{rollouts, `{"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"0%"}}}`, "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"0%\": may not be 0 when `maxSurge` is 0"},
		{rollouts, `{"strategy":{"rollingUpdate":{"maxUnavailable":0}}}`, ""},
		{rollouts, `{"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"10%"}}}`, ""},
	} {
		var m map[string]any
		if err := json.Unmarshal([]byte(c.spec), &m); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range c.rules(m, nil) {
			got = append(got, f.Error(field.NewPath("spec")).Error())
		}
		if len(got) > 1 || c.want == "" && len(got) > 0 || !strings.Contains(strings.Join(got, ""), c.want) {
			t.Errorf("%s: got %q, want %q", c.spec, got, c.want)
		}
	}
}
