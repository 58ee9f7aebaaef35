package templates

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Every fault has its line and column, all at once, in every form that people's
// files have.
func TestCheckPlaces(t *testing.T) {
	text := `parameters:
  A: {type: integer}
  B: {tipe: int}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, label: {}}
spec:
  paralelism: 2
  template:
    spec:
      containers:
      - name: a
        image: i
        image: k
`
	for what, form := range map[string]func(string) string{
		"plain": func(s string) string { return s },
		"CRLF":  func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"BOM":   func(s string) string { return "\ufeff" + s },
	} {
		_, faults, _ := render.Check("t", "t", []byte(form(strings.Replace(text, "        image: k\n", "", 1))))
		got := fmt.Sprint(faults)
		for _, want := range []string{"{2 13 parameter A", "{3 7 parameter B", `{7 21 no field "label" in metadata; did you mean "labels"?}`, `{9 3 no field "paralelism" in spec; did you mean "parallelism"?}`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %s", what, want, got)
			}
		}
		_, faults, _ = render.Check("t", "t", []byte(form(text)))
		if len(faults) != 5 || faults[4].Line != 15 || faults[4].Column != 9 || !strings.Contains(faults[4].Message, "given twice (first in line 14)") {
			t.Errorf("%s: a key twice: %+v", what, faults)
		}
	}
}

func TestCheck(t *testing.T) {
	job := func(container string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [" + container + "]\n"
	}
	many := "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
	for i := range 60 {
		many += fmt.Sprintf("  - {name: c%d, imag: i}\n", i)
	}
	for what, c := range map[string]struct {
		text  string
		want  string
		count int
	}{
		"fine":               {job("{name: a, image: i}"), "", 0},
		"placeholders":       {"parameters: {N: {type: int, required: true}}\n---\n" + job("{name: a, image: $IMAGE, resources: {limits: {cpu: $N, memory: $M}}}"), "", 0},
		"only in rendering":  {job("{name: a}"), "has no image", 1},
		"quantity":           {job("{name: a, image: i, resources: {limits: {cpu: lots}}}"), "must be a quantity", 1},
		"default of a type":  {"parameters: {N: {type: int, default: x}}\n---\n" + job("{name: a, image: i}"), "invalid default", 1},
		"bad default inside": {"parameters: {N: {default: 0x}}\n---\n" + job("{name: a, image: i, resources: {limits: {cpu: $N}}}"), "must be a quantity", 1},
		"a merge":            {"a: &a {name: a, image: i}\n---\n" + job("{<<: *a}"), "apiVersion and kind are missing", 1},
		"merged":             {strings.Replace(job("{<<: *m, image: j}"), "metadata: {name: j}", "metadata: {name: j, annotations: &n {}}", 1), "has no anchor", 1},
		"tab":                {"apiVersion: v1\nkind: Pod\n\tmetadata: {}\n", "a tab", 1},
		"jinja":              {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ name }}\n", "Helm or Jinja", 1},
		"jinja block":        {"{% for i in x %}\nkind: Pod\n{% endfor %}\n", "Helm or Jinja", 1},
		"two jobs":           {job("{name: a, image: i}") + "---\n" + job("{name: b, image: i}"), "a second Job j: give each job its own name", 1},
		"large":              {job("{name: a, image: i}") + "# " + strings.Repeat("x", 5<<20), "larger than", 1},
		"not text":           {"\xff\xfe\x00", "not a text file", 1},
		"empty":              {"", "no object", 1},
		"sixty":              {many, "imag", 60},
	} {
		_, faults, _ := render.Check("t", "t.yaml", []byte(c.text))
		if len(faults) != c.count && !(c.count == 1 && len(faults) > 0) || c.want != "" && !strings.Contains(fmt.Sprint(faults), c.want) {
			t.Errorf("%s: %+v", what, faults)
		}
	}
	_, _, notes := render.Check("t", "t", []byte("parameters: {UNUSED: 1, INSTANCE_TYPE: {type: string}}\n---\n"+job("{name: a, image: i}")))
	if len(notes) != 1 || !strings.Contains(notes[0], "UNUSED") {
		t.Errorf("notes %q", notes)
	}
}

// The embedded templates are free of faults.
func TestCheckEmbedded(t *testing.T) {
	for _, name := range embeddedNames(t) {
		if _, faults, notes := render.Check(name, "embedded", mustFind(t, name).Text); len(faults)+len(notes) > 0 {
			t.Errorf("%s: %+v, %q", name, faults, notes)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	tm := mustFind(b, "mpi")
	for b.Loop() {
		if _, faults, _ := render.Check("mpi", "mpi", tm.Text); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

// All faults of the finished job are reported together, each with its line.
func TestEveryFaultOfAJob(t *testing.T) {
	text := "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata:\n  name: 1st\nspec:\n  pytorchReplicaSpecs:\n    Worker:\n      replicas: 0\n      restartPolicy: Sometimes\n      template:\n        spec:\n          containers:\n" +
		"          - name: train\n            image: \"a b\"\n            imagePullPolicy: Never\n            resources:\n              requests: {nvidia.com/gpu: 1}\n              limits:\n                nvidia.com/gpu: 2\n          - name: side\n"
	_, faults, _ := render.Check("t", "t.yaml", []byte(text))
	var got []string
	for _, f := range faults {
		got = append(got, fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.Message))
	}
	want := []string{`4:3: invalid name "1st" of a PyTorchJob`, `8:7: invalid replicas 0 of Worker`, `9:7: invalid restart policy "Sometimes"`, `12:11: Worker requires a container named pytorch`, `14:13: "a b" is not a valid image`,
		`19:17: train of Worker: limit and request of nvidia.com/gpu must be equal`, `20:13: container side of Worker has no image`}
	if len(got) != len(want) {
		t.Fatalf("faults:\n%s", strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
	// Submitting it says the same.
	tm := mustParse(t, text)
	_, err := render.Objects(tm, values.Values{})
	message := errs.Text(err, false)
	if errs.ExitOf(err) != errs.Usage || !strings.Contains(message, "test.yaml: 7 faults") || !strings.Contains(message, `line 4:3:    invalid name "1st"`) || !strings.Contains(message, "--image IMAGE") {
		t.Errorf("%s", message)
	}
}

// checked is what Check says, a line for each fault.
func checked(text string) string {
	_, faults, _ := render.Check("t", "t.yaml", []byte(text))
	var out strings.Builder
	for _, f := range faults {
		fmt.Fprintf(&out, "%d:%d: %s\n", f.Line, f.Column, f.Message)
	}
	return out.String()
}

// One report has the faults of the text, of the fields and of the values, each once, in
// order of position, without those that only follow from another.
func TestEveryFaultAtOnce(t *testing.T) {
	const head = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: j}\nspec:\n  pytorchReplicaSpecs:\n    Worker:\n"
	const pod = "      template:\n        spec:\n          containers:\n"
	for what, c := range map[string]struct{ text, want string }{
		"fields and values": {head + "      replicas: -1\n      restart: Never\n" + pod + "          - name: pytorch\n            image: a b\n            imag: x\n            resources: {limits: {cpu: lots, memory: -1}}\n", `
7:7: invalid replicas -1 of Worker: must be at least 1
8:7: no field "restart" in spec.pytorchReplicaSpecs.Worker; did you mean "restartPolicy"?
13:13: "a b" is not a valid image: container pytorch of Worker
14:13: no field "imag" in spec.pytorchReplicaSpecs.Worker.template.spec.containers[0]; did you mean "image" or "imagePullPolicy"?
15:39: spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].resources.limits.cpu is the text "lots": must be a quantity such as 500m, 4 or 16Gi
15:45: pytorch of Worker: invalid resources.limits.memory -1: must be at least 0
`},
		"header, fields and values": {"parameters:\n  A: {type: integer, defalt: 1, fixed: maybe}\n  B: {type: int, default: x}\n---\n" + head + "      replicas: ${A}\n" + pod + "          - {name: pytorch, image: i, args: [$B]}\n          - {name: pytorch, image: j}\n", `
2:13: parameter A: type "integer" not found; the types are string, int, number, bool, quantity, list
2:22: parameter A: no field "defalt"; did you mean "default"?
2:40: parameter A: fixed must be true or false
3:3: parameter B: invalid default: "x" is not a whole number
16:14: two containers of Worker are named pytorch
`},
		"a misspelt field hides nothing that is inside of it": {"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: j}\nspec:\n  pytorchReplicaSpec:\n    Worker:\n      replica: 0\n" + pod + "          - {name: pytorch, image: i, comand: [a]}\n", `
5:3: no field "pytorchReplicaSpec" in spec; did you mean "pytorchReplicaSpecs"?
7:7: no field "replica" in spec.pytorchReplicaSpecs.Worker; did you mean "replicas"?
7:7: invalid replicas 0 of Worker: must be at least 1
11:39: no field "comand" in spec.pytorchReplicaSpecs.Worker.template.spec.containers[0]; did you mean "command"?
`},
		"what follows from a fault is not told": {head + "      replicas: \"-1\"\n      restartPolicy: 5\n" + pod + "          - {name: [a], image: 7, imagePullPolicy: {}}\n", `
7:17: spec.pytorchReplicaSpecs.Worker.replicas is the text "-1": must be a whole number
8:22: spec.pytorchReplicaSpecs.Worker.restartPolicy is the number 5: must be text (put it in quotes)
12:20: spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].name is a list: must be text
12:32: spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].image is the number 7: must be text (put it in quotes)
12:52: spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].imagePullPolicy is a map: must be text
`},
		"no pods because of a fault": {"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: j}\nspec:\n  pytorchReplicaSpecs: {Worker: []}\n", `
5:33: spec.pytorchReplicaSpecs.Worker is a list: must be a map
`},
		"no pods": {"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: j}\nspec:\n  runPolicy: {backoffLimit: x}\n", `
4:1: the PyTorchJob has no pods
5:29: spec.runPolicy.backoffLimit is the text "x": must be a whole number
`},
		"one value is reported once": {head + "      replicas: 1\n" + pod + "          - name: pytorch\n            image: i\n            resources: {requests: {memory: 1}, limits: {memory: -1}}\n", `
13:57: pytorch of Worker: invalid resources.limits.memory -1: must be at least 0
`},
		"an alias brings a fault twice": {"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: j}\nspec:\n  pytorchReplicaSpecs:\n    Master: &role\n      replicas: 0\n      template:\n        spec:\n          containers: [{name: pytorch, image: 5}]\n    Worker: *role\n", `
7:7: invalid replicas 0 of Master: must be 1
10:47: spec.pytorchReplicaSpecs.Master.template.spec.containers[0].image is the number 5: must be text (put it in quotes)
`},
		"another kind with a word more": {"apiVersion: v1\nkind: PodTemplate\nmetadata: {name: t}\ntemplate: {spec: {containers: [{name: c, image: i}]}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n", ""},
		"volumes that the operator adds": {"apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: m}\nspec:\n  mpiReplicaSpecs:\n    Launcher: {template: {spec: {initContainers: [{name: w, image: i, volumeMounts: [{name: mpi-job-config, mountPath: /etc/mpi}, {name: ssh-auth, mountPath: /root/.ssh}, {name: mine, mountPath: /a}]}], containers: [{name: c, image: i}]}}}\n", `
6:173: spec.mpiReplicaSpecs.Launcher.template.spec.initContainers[0].volumeMounts[2].name is "mine": the pod has no volume of this name
`},
		"volumes that Ray's operator adds": {"apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\nspec:\n  headGroupSpec: {template: {spec: {containers: [{name: h, image: i}, {name: agent, image: i, volumeMounts: [{name: ray-token, mountPath: /t}, {name: shared-mem, mountPath: /dev/shm}, {name: ray-logs, mountPath: /l}, {name: mine, mountPath: /a}]}]}}}\n", `
5:219: spec.headGroupSpec.template.spec.containers[1].volumeMounts[3].name is "mine": the pod has no volume of this name
`},
		"volumes of the claims of a LeaderWorkerSet": {"apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: l}\nspec:\n  leaderWorkerTemplate:\n    volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n    workerTemplate: {spec: {containers: [{name: c, image: i, volumeMounts: [{name: data, mountPath: /a}, {name: other, mountPath: /b}]}]}}\n", `
7:107: spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].volumeMounts[1].name is "other": the pod has no volume of this name
`},
		"a Workspace without an image has that of its operator": {"apiVersion: workspace.jupyter.org/v1alpha1\nkind: Workspace\nmetadata: {name: w}\nspec: {displayName: d}\n", ""},
		"a probe without a handler": {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i, livenessProbe: {periodSeconds: 3}}]}\n", `
4:41: spec.containers[0].livenessProbe has no handler, such as exec or httpGet
`},
		"misspelt kind, no version": {"apiVersion: kubeflow.org/v1\nkind: PytorchJob\nmetadata: {name: j}\nspec: {pytorchReplicaSpecs: {Worker: {replicas: 0, template: {spec: {containers: [{name: pytorch, image: i}]}}}}}\n---\nkind: ConfigMap\nmetadata: {name: A_B}\n---\nspec: {}\n", `
2:7: kubeflow.org/v1 has no kind PytorchJob; did you mean "PyTorchJob"?
4:39: invalid replicas 0 of Worker: must be at least 1
6:1: apiVersion is missing: use v1 for a ConfigMap
7:12: "A_B" is not a valid name of a ConfigMap: use lower-case letters, digits, - and ., with a letter or digit at both ends
9:1: apiVersion and kind are missing
`},
		"labels of every object": {"apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\n  labels: {\"bad key!\": x, team: -a}\n  annotations: {\"a b\": c}\nspec:\n  template:\n    metadata: {labels: {app: a b}}\n    spec:\n      restartPolicy: Never\n      nodeSelector: {pool: a/b}\n      containers: [{name: A, image: i}]\n---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: Any Name, namespace: A, labels: {x: \"\", y: \"?\"}}\n", `
5:12: Job j: "bad key!" is not a valid label name
5:27: Job j: "-a" is not a valid value of the label team: use at most 63 letters, digits, -, _ and ., with a letter or digit at both ends
6:17: Job j: "a b" is not a valid annotation name
9:25: pods of worker: "a b" is not a valid value of the label app: use at most 63 letters, digits, -, _ and ., with a letter or digit at both ends
12:22: nodeSelector of worker: "a/b" is not a valid value of the label pool: use at most 63 letters, digits, -, _ and ., with a letter or digit at both ends
13:21: "A" is not a valid name of a container of worker: use at most 63 lower-case letters, digits and -, with a letter or digit at both ends
17:28: Thing Any Name: "A" is not a valid namespace: use at most 63 lower-case letters, digits and -, with a letter or digit at both ends
17:58: Thing Any Name: "?" is not a valid value of the label y: use at most 63 letters, digits, -, _ and ., with a letter or digit at both ends
`},
		"names of RBAC objects": {"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: \"team:Reader\"}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a/b}\n", `
7:12: "a/b" is not a valid name of a Role: it may not be . or .. nor contain / or %
`},
		"one of several documents is not YAML": {jobHead + "        imag: j\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c\ndata: {}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\ndata: {a: 1}\n---\na: @x\n", `
10:9: no field "imag" in spec.template.spec.containers[0]; did you mean "image" or "imagePullPolicy"?
14:1: not valid YAML: a { is not closed, or a comma is missing inside it
20:11: data.a is the number: must be text (put it in quotes)
22:1: not valid YAML: put text that starts with @, ` + "`" + ` or % in quotes
`},
		"Helm here and there": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {a: b}\n---\n" + head + "      replicas: \"{{ .Values.n }}\"\n" + pod + "          - {name: pytorch, image: \"{{ .Values.image }}\"}\n          - {name: b}\n", `
3:18: ` + manifest.ForeignText + `; also in lines 12, 16
17:13: container b of Worker has no image
`},
		"Jinja is not blamed for another mistake": {jobHead + "        args: [\"docker ps --format '{{.Names}}'\"]\n        command: [a\n", `
11:9: not valid YAML: a [ is not closed, or a comma is missing inside it
`},
		"keys and numbers of YAML": {jobHead + "        image: j\n        stdin: !Ref x\n        tty: .inf\n        resources: {}\n        resources: {}\n      hostNetwork: 7\n", `
10:9: the key "image" is given twice (first in line 9)
11:16: tag "!Ref" is not supported
12:14: ".inf" is not a valid JSON number
14:9: the key "resources" is given twice (first in line 13)
15:20: spec.template.spec.hostNetwork is the number 7: must be true or false
`},
		"what a key that is given twice lacks": {jobHead + "        volumeMounts: [{name: a, mountPath: /a}, {name: b, mountPath: /b}]\n      volumes: [{name: a, emptyDir: {}}]\n      volumes: [{name: b, emptyDir: {}}]\n", `
12:7: the key "volumes" is given twice (first in line 11)
`},
		"an AppWrapper of an old version": {"apiVersion: workload.codeflare.dev/v1beta1\nkind: AppWrapper\nmetadata: {name: w}\nspec:\n  resources: {GenericItems: [{generictemplate: {apiVersion: v1, kind: Pod}}]}\n", `
1:1: "workload.codeflare.dev/v1beta1" has no AppWrapper: use workload.codeflare.dev/v1beta2
`},
		"a Deployment that cannot replace a pod": {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}\n", `
5:43: spec.strategy.rollingUpdate.maxUnavailable is "0": may not be 0 when maxSurge is 0
`},
		"a Job with a selector of its own": {strings.Replace(jobHead, "spec:\n", "spec:\n  selector: {matchLabels: {a: b}}\n", 1) + "      restartPolicy: Never\n", `
5:3: spec.selector is invalid: not auto-generated; remove it, or set manualSelector: true
`},
		"words and names of a JobSet": {"apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: s}\nspec:\n  successPolicy: {operator: all}\n  startupPolicy: {startupPolicyOrder: Random}\n  failurePolicy: {rules: [{name: r, action: Restart}]}\n  replicatedJobs:\n  - {name: a, template: &t {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}\n  - {name: a, template: *t}\n", `
5:19: spec.successPolicy.operator is "all": must be All or Any; did you mean "All"?
6:19: spec.startupPolicy.startupPolicyOrder is "Random": must be AnyOrder or InOrder
7:37: spec.failurePolicy.rules[0].action is "Restart": must be FailJobSet, RestartJobSet, RestartJobSetAndIgnoreMaxRestarts, RestartJob or RestartJobAndIgnoreMaxRestarts; did you mean "RestartJob", "RestartJobAndIgnoreMaxRestarts" or "RestartJobSet"?
10:6: spec.replicatedJobs[1].name is "a": this name is given twice
`},
		"words of an MPIJob": {"apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: m}\nspec:\n  mpiImplementation: OpenMpi\n  runPolicy: {cleanPodPolicy: all, managedBy: $WHO}\n  mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [{name: c, image: i}]}}}}\n", `
5:3: spec.mpiImplementation is "OpenMpi": must be OpenMPI, Intel or MPICH; did you mean "OpenMPI"?
6:15: spec.runPolicy.cleanPodPolicy is "all": must be None, Running or All; did you mean "All"?
`},
		"documents of JSON": {"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}}\n{\n  \"apiVersion\": \"v1\", \"kind\": \"ConfigMap\",\n  \"metadata\": {\"name\": \"B\"}} {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"C\"}}\n", `
4:16: "B" is not a valid name of a ConfigMap: use lower-case letters, digits, - and ., with a letter or digit at both ends
4:85: "C" is not a valid name of a ConfigMap: use lower-case letters, digits, - and ., with a letter or digit at both ends
`},
		"defaults that lead nowhere": {"parameters:\n  INSTANCE_TYPE: {default: ml.p9.huge}\n  NODE_COUNT: {type: int, default: 0}\n  RDZV_BACKEND: gossip\n---\n" + head + "      replicas: $NODE_COUNT\n" + pod + "          - {name: pytorch, image: a b}\n", `
2:3: parameter INSTANCE_TYPE: invalid default: instance type "ml.p9.huge" not found
3:3: parameter NODE_COUNT: invalid default: invalid --node-count "0": must be at least 1
4:3: parameter RDZV_BACKEND: invalid default: invalid --rdzv-backend "gossip": must be c10d, etcd-v2, etcd or static
16:29: "a b" is not a valid image: container pytorch of Worker
`},
		"fixed paths": {"parameters: {}\nfixed: [spec.runPolice, spec.nothing, spec.elasticPolicy, 'a b=', spec.runPolicy.backoffLimit=x]\n---\n" + head + "      replicas: 0\n" + pod + "          - {name: pytorch, image: i}\n", `
2:9: fixed: spec.runPolice not found in the manifest; use spec.runPolice=VALUE to fix a value, spec.runPolice=null to keep the field absent; did you mean "spec.runPolicy"?
2:25: fixed: spec.nothing not found in the manifest; use spec.nothing=VALUE to fix a value, spec.nothing=null to keep the field absent
2:39: fixed: spec.elasticPolicy not found in the manifest; use spec.elasticPolicy=VALUE to fix a value, spec.elasticPolicy=null to keep the field absent
2:59: no field "a b" at the top
2:67: spec.runPolicy.backoffLimit is the text "x": must be a whole number
10:7: invalid replicas 0 of Worker: must be at least 1
`},
		"two jobs": {head + "      replicas: 0\n" + pod + "          - {name: pytorch, image: i}\n---\n" + head + "      replicas: -2\n" + pod + "          - {name: pytorch, image: i}\n", `
7:7: invalid replicas 0 of Worker: must be at least 1
13:1: a second PyTorchJob j: give each job its own name
19:7: invalid replicas -2 of Worker: must be at least 1
`},
		"a name that is not known yet": {strings.Replace(head, "{name: j}", "{name: $WHO, labels: {a: '?'}}", 1) + pod + "          - {name: pytorch, image: i}\n---\napiVersion: batch/v1\nkind: Job\n", `
3:33: PyTorchJob: "?" is not a valid value of the label a: use at most 63 letters, digits, -, _ and ., with a letter or digit at both ends
12:1: the job requires a name
12:1: the Job has no pods
`},
		"a misspelt header": {"paramters: {A: {typ: int}}\n---\n" + head + "      replicas: 0\n" + pod + "          - {name: pytorch, image: i}\n", `
1:1: the header has no field "paramters"; did you mean "parameters"?
1:17: parameter A: no field "typ"; did you mean "type"?
9:7: invalid replicas 0 of Worker: must be at least 1
`},
		"forms of a shell": {head + "      replicas: ${N:?no}\n" + pod + "          - {name: pytorch, image: \"${I%%:*} x\", imagePullPolicy: Perhaps}\n", `
7:17: ${N:?no} is shell syntax and no shell reads it here; use ${NAME} or ${NAME:-DEFAULT}
11:36: ${I%%:*} is shell syntax and no shell reads it here; use ${NAME} or ${NAME:-DEFAULT}
11:50: invalid imagePullPolicy "Perhaps": must be Always, IfNotPresent or Never
`},
		"parameters without a value are open": {head + "      replicas: $N\n      restartPolicy: $P\n" + strings.Replace(pod, "template:", "template:\n        metadata: {labels: {\"$K\": \"a $V\", b: \"$V\"}}", 1) + "          - {name: $C, image: \"$I\", imagePullPolicy: $Q, resources: {limits: {$D: $M}}}\n", ""},
	} {
		t.Run(what, func(t *testing.T) {
			if got, want := checked(c.text), strings.TrimPrefix(c.want, "\n"); got != want {
				t.Errorf("faults:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// A configuration file of v2, and a file that is not text, have one fault.
func TestCheckOtherFiles(t *testing.T) {
	for text, want := range map[string]string{
		"training_cfg: {}\ncluster: {}\n":          "1:1: this is a configuration file of HyperPod CLI v2, not a manifest\n",
		"version: hyperpod.policy/v1\nteams: []\n": "1:1: this is a governance file, not a manifest\n",
		"a: \x00":   "0:0: not a text file in UTF-8\n",
		"":          "0:0: the file has no objects\n",
		"just text": "1:1: a manifest must be a map with apiVersion and kind\n",
	} {
		if got := checked(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A ${NAME:-DEFAULT} of a script that stays though a parameter has its name is noted.
func TestShellsOwnNoted(t *testing.T) {
	text := strings.Replace(jobHead, "image: i\n", "image: i:$TAG\n        command: [sh, -c, 'echo ${TAG:-1} ${HOME:-/}']\n", 1)
	if _, faults, notes := render.Check("t", "t", []byte(text)); len(faults) > 0 || len(notes) != 1 || !strings.HasPrefix(notes[0], "${TAG:-1} in spec.template.spec.containers[0].command[2] is left to the shell") {
		t.Errorf("faults %v, notes %q", faults, notes)
	}
	text = strings.Replace(text, "        command", "        env: [{name: TAG, value: $TAG}]\n        command", 1)
	if _, faults, notes := render.Check("t", "t", []byte(text)); len(faults)+len(notes) > 0 {
		t.Errorf("faults %v, notes %q", faults, notes)
	}
}
