package templates

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

func TestParseSeconds(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "3600": 3600, "90m": 5400, "7d": 604800, "1d12h": 129600, "1h30m15s": 5415} {
		if n, err := values.ParseSeconds("ttl", text); err != nil || *n != want {
			t.Errorf("%s: %v %v", text, n, err)
		}
	}
	for _, text := range []string{"", "-1", "-5m", "soon", "1.5s", "d", "xd", "-1d", "99999999d", "1h1d", "1e3"} {
		if text == "" {
			continue // nobody calls it with nothing
		}
		if n, err := values.ParseSeconds("ttl", text); err == nil || errs.ExitOf(err) != errs.Usage {
			t.Errorf("%q: %v %v", text, n, err)
		}
	}
}

func TestParseToleration(t *testing.T) {
	for text, want := range map[string]map[string]any{
		"gpu=yes:NoSchedule": {"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoSchedule"},
		"gpu":                {"key": "gpu", "operator": "Exists"},
		"gpu:noexecute:30":   {"key": "gpu", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": int64(30)},
		"*":                  {"operator": "Exists"},
		"*:NoSchedule":       {"operator": "Exists", "effect": "NoSchedule"},
		"a.b/c=:NoSchedule":  {"key": "a.b/c", "operator": "Equal", "value": "", "effect": "NoSchedule"},
	} {
		got, err := values.ParseToleration(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got.Object()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	for _, text := range []string{"", "=v", "a b", "k=v w", "k:Never", "k:NoSchedule:30", "k:NoExecute:-1", "k:NoExecute:1:2", "*=v", "k=v:"} {
		if _, err := values.ParseToleration(text); errs.ExitOf(err) != errs.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseSecretEnv(t *testing.T) {
	for text, want := range map[string]values.SecretEnv{
		"A=s:k":    {Name: "A", Secret: "s", Key: "k"},
		"A=s":      {Name: "A", Secret: "s", Key: "A"},
		"my-token": {Name: "", Secret: "my-token", Key: ""},
	} {
		if got, err := values.ParseSecretEnv(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "=s:k", "1A=s:k", "A=", "A=s:", "A=S:k", "A=s:k/l", "-"} {
		if _, err := values.ParseSecretEnv(text); errs.ExitOf(err) != errs.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The same run policy at the place where each kind has it.
func TestRunPolicy(t *testing.T) {
	all := values.RunPolicy{CleanPodPolicy: "Running", TTL: values.Int(60), Deadline: values.Int(3600), Backoff: values.Int(3)}
	for _, c := range []struct {
		template, at string
		policy       values.RunPolicy
		want         map[string]any
	}{
		{"pytorch", "spec.runPolicy", all, map[string]any{"cleanPodPolicy": "Running", "ttlSecondsAfterFinished": int64(60), "activeDeadlineSeconds": int64(3600), "backoffLimit": int64(3)}},
		{"mpi", "spec.runPolicy", all, map[string]any{"cleanPodPolicy": "Running", "ttlSecondsAfterFinished": int64(60), "activeDeadlineSeconds": int64(3600), "backoffLimit": int64(3)}},
		{"hyperpod-pytorch", "spec.runPolicy", values.RunPolicy{CleanPodPolicy: "All", TTL: values.Int(0), Deadline: values.Int(9)}, map[string]any{"cleanPodPolicy": "All", "ttlSecondsAfterFinished": int64(0), "activeDeadlineSeconds": int64(9)}},
		{"testdata/manifests/job.yaml", "spec", values.RunPolicy{TTL: values.Int(60), Deadline: values.Int(3600), Backoff: values.Int(3)}, map[string]any{"ttlSecondsAfterFinished": int64(60), "activeDeadlineSeconds": int64(3600), "backoffLimit": int64(3)}},
	} {
		r := rendered(t, c.template, values.Values{Name: "j", Image: "i", EntryScript: "t.py", RunPolicy: c.policy})
		for k, want := range c.want {
			if got := at(t, r.Objects[0], c.at+"."+k); got != want {
				t.Errorf("%s: %s is %v, want %v", c.template, k, got, want)
			}
		}
	}
	for name, c := range map[string]struct {
		template string
		policy   values.RunPolicy
		want     string
	}{
		"a word":     {"pytorch", values.RunPolicy{CleanPodPolicy: "Runing"}, `did you mean "Running"?`},
		"no time":    {"pytorch", values.RunPolicy{Deadline: values.Int(0)}, "at least 1"},
		"a huge one": {"pytorch", values.RunPolicy{TTL: values.Int(1 << 40)}, "at most"},
		"no field":   {"testdata/manifests/job.yaml", values.RunPolicy{CleanPodPolicy: "All"}, "does not apply to a Job"},
		"another":    {"hyperpod-pytorch", values.RunPolicy{Backoff: values.Int(1)}, "--max-retry N"},
	} {
		_, err := render.Objects(mustFind(t, c.template), values.Values{Name: "j", Image: "i", EntryScript: "t.py", RunPolicy: c.policy})
		if errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), c.want) {
			t.Errorf("%s: %s", name, errs.Text(err, false))
		}
	}
}

func TestElastic(t *testing.T) {
	v := values.Values{Name: "j", Image: "i", EntryScript: "t.py", NodeCount: values.Int(2), Elastic: values.Elastic{Max: values.Int(4)}}
	o := rendered(t, "pytorch", v).Objects[0]
	if diff := cmp.Diff(map[string]any{"minReplicas": int64(2), "maxReplicas": int64(4), "rdzvBackend": "c10d"}, at(t, o, "spec.elasticPolicy")); diff != "" {
		t.Error(diff)
	}
	if args := at(t, o, workerContainer+".args").([]any); args[0] != "--nnodes=2:4" {
		t.Errorf("arguments %q", args)
	}
	v.Elastic = values.Elastic{Min: values.Int(1), Max: values.Int(4), Sizes: []int{4, 2, 1}, ScalingTimeout: values.Int(60), ShutdownTimeout: values.Int(30), ScaleUpSnooze: values.Int(600)}
	o = rendered(t, "hyperpod-pytorch", v).Objects[0]
	if diff := cmp.Diff(map[string]any{"minReplicas": int64(1), "maxReplicas": int64(4), "replicaDiscreteValues": []any{int64(1), int64(2), int64(4)},
		"scalingTimeoutInSeconds": int64(60), "gracefulShutdownTimeoutInSeconds": int64(30)}, at(t, o, "spec.elasticPolicy")); diff != "" {
		t.Error(diff)
	}
	if at(t, o, "spec.replicaSpecs[0].maxReplicas") != int64(4) || at(t, o, "spec.runPolicy.restartPolicy.scaleUpSnoozeTimeInSeconds") != int64(600) {
		t.Errorf("spec %v", o["spec"])
	}
	bare := mustParse(t, "apiVersion: sagemaker.amazonaws.com/v1\nkind: HyperPodPyTorchJob\nmetadata: {name: j}\n"+
		"spec: {replicaSpecs: [{name: pods, replicas: 1, template: {spec: {containers: [{name: pytorch, image: i}]}}}]}\n")
	r, err := render.Objects(bare, values.Values{Elastic: values.Elastic{Max: values.Int(2), ScaleUpSnooze: values.Int(60)}})
	if err != nil || at(t, r.Objects[0], "spec.runPolicy.restartPolicy.evalPeriodSeconds") != int64(3600) {
		t.Errorf("a restart policy without the period that it has to have: %v, %v", err, r.Objects)
	}
	for name, c := range map[string]struct {
		template string
		elastic  values.Elastic
		want     string
	}{
		"turned round":   {"pytorch", values.Elastic{Min: values.Int(4), Max: values.Int(2)}, "must be at most 2"},
		"outside":        {"pytorch", values.Elastic{Min: values.Int(3), Max: values.Int(4)}, "must be at least 3, the value of --min-node-count"},
		"nothing":        {"pytorch", values.Elastic{Min: values.Int(0)}, "at least 1"},
		"theirs":         {"pytorch", values.Elastic{Max: values.Int(4), Step: values.Int(2)}, "requires the HyperPod training operator"},
		"both":           {"hyperpod-pytorch", values.Elastic{Max: values.Int(4), Step: values.Int(1), Sizes: []int{2}}, "cannot be used with"},
		"a step alone":   {"hyperpod-pytorch", values.Elastic{Step: values.Int(1)}, "--max-node-count is required"},
		"a size too big": {"hyperpod-pytorch", values.Elastic{Max: values.Int(4), Sizes: []int{8}}, `"8": must be from 1`},
		"MPI":            {"mpi", values.Elastic{Max: values.Int(4)}, "do not apply to an MPIJob"},
		"a master":       {"testdata/manifests/master.yaml", values.Elastic{Max: values.Int(4)}, "with a Master cannot be elastic"},
	} {
		v.Elastic = c.elastic
		_, err := render.Objects(mustFind(t, c.template), v)
		if errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), c.want) {
			t.Errorf("%s: %s", name, errs.Text(err, false))
		}
	}
}

func TestRendezvous(t *testing.T) {
	flags := func(name string, v values.Values) []string {
		v.Name, v.Image, v.EntryScript = "j", "i", "t.py"
		var out []string
		for _, o := range rendered(t, name, v).Objects {
			if o["kind"] == "PyTorchJob" {
				for _, a := range at(t, o, workerContainer+".args").([]any) {
					if s := a.(string); strings.Contains(s, "rdzv") || strings.Contains(s, "rank") || strings.Contains(s, "master") || strings.Contains(s, "main_process") {
						out = append(out, s)
					}
				}
			}
		}
		return out
	}
	two := values.Values{InstanceType: "ml.p5.48xlarge", NodeCount: values.Int(2)}
	with := func(r values.Rendezvous) values.Values { v := two; v.Rendezvous = r; return v }
	trainium := values.Values{InstanceType: "ml.trn1.32xlarge", NodeCount: values.Int(2)}
	c10d := []string{"--rdzv_backend=c10d", "--rdzv_endpoint=j-worker-0:29400", "--rdzv_id=j"}
	static := []string{"--node_rank=$(NODE_RANK)", "--master_addr=j-worker-0", "--master_port=41000"}
	for name, c := range map[string]struct {
		template string
		values   values.Values
		want     []string
	}{
		"GPU":             {"pytorch", two, c10d},
		"one node":        {"pytorch", values.Values{InstanceType: "ml.p5.48xlarge"}, nil},
		"Trainium":        {"pytorch", trainium, static},
		"Trainium, alone": {"pytorch", values.Values{InstanceType: "ml.trn1.32xlarge"}, nil},
		"static":          {"pytorch", with(values.Rendezvous{Backend: "static"}), static},
		"a host":          {"pytorch", with(values.Rendezvous{Endpoint: "meet:1234"}), []string{"--rdzv_backend=c10d", "--rdzv_endpoint=meet:1234", "--rdzv_id=j"}},
		"etcd":            {"pytorch", with(values.Rendezvous{Backend: "etcd-v2", Endpoint: "etcd"}), []string{"--rdzv_backend=etcd-v2", "--rdzv_endpoint=etcd:2379", "--rdzv_id=j"}},
		"own etcd":        {"fsdp-llama-etcd", two, []string{"--rdzv_backend=etcd-v2", "--rdzv_endpoint=j-etcd:2379", "--rdzv_id=j"}},
		"accelerate":      {"accelerate", two, []string{"--machine_rank=$(NODE_RANK)", "--main_process_ip=j-worker-0", "--main_process_port=29500"}},
	} {
		if got := flags(c.template, c.values); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for want, r := range map[string]values.Rendezvous{"--rdzv-endpoint is required with --rdzv-backend": {Backend: "etcd"}, `did you mean "c10d"?`: {Backend: "c10"}, "must be HOST:PORT": {Endpoint: "http://x"}} {
		v := with(r)
		v.Name, v.Image, v.EntryScript = "j", "i", "t.py"
		if _, err := render.Objects(mustFind(t, "pytorch"), v); errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), want) {
			t.Errorf("%s: %s", want, errs.Text(err, false))
		}
	}
}

// Pods' demands and variables for every role that trains, the launcher's own apart.
func TestPlaces(t *testing.T) {
	v := values.Values{Name: "j", Image: "i", EntryScript: "t.py", InstanceType: "ml.p5.48xlarge", NodeCount: values.Int(2), RequiredTopology: "rack",
		Tolerations: []values.Toleration{{Key: "k", Exists: true}, {Key: "k", Exists: true}}, SecretEnv: []values.SecretEnv{{Name: "NCCL_DEBUG", Secret: "s", Key: "k"}, {Name: "", Secret: "all", Key: ""}, {Name: "", Secret: "all", Key: ""}}, ResultsDir: "/out"}
	specs := at(t, rendered(t, "mpi", v).Objects[0], "spec.mpiReplicaSpecs")
	for role, trains := range map[string]bool{"Launcher": false, "Worker": true} {
		pod := at(t, specs.(map[string]any), role+".template").(map[string]any)
		c := jobobject.MapsIn(jobobject.Inner(pod, "spec")["containers"])[0]
		if got := jobobject.Inner(pod, "metadata", "annotations")["kueue.x-k8s.io/podset-required-topology"]; (got == "rack") != trains {
			t.Errorf("%s: topology %v", role, got)
		}
		if got := jobobject.MapsIn(jobobject.Inner(pod, "spec")["tolerations"]); len(got) != 1 {
			t.Errorf("%s: tolerations %v", role, got)
		}
		if got := jobobject.MapsIn(c["envFrom"]); len(got) != 1 || jobobject.Inner(got[0], "secretRef")["name"] != "all" {
			t.Errorf("%s: envFrom %v", role, got)
		}
		debug := jobobject.Named(c["env"], "NCCL_DEBUG")
		if _, plain := debug["value"]; plain || jobobject.Inner(debug, "valueFrom", "secretKeyRef")["key"] != "k" {
			t.Errorf("%s: variable %v", role, debug)
		}
		if (jobobject.Named(c["env"], "RESULTS_DIR") != nil) != trains {
			t.Errorf("%s: results %v", role, c["env"])
		}
	}
	for want, change := range map[string]func(*values.Values){
		"cannot be used with":  func(v *values.Values) { v.PreferredTopology = "zone" },
		"must be a node label": func(v *values.Values) { v.RequiredTopology = "a b" },
		"--environment and":    func(v *values.Values) { v.Environment = map[string]string{"NCCL_DEBUG": "x"} },
	} {
		bad := v
		change(&bad)
		if _, err := render.Objects(mustFind(t, "mpi"), bad); errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), want) {
			t.Errorf("%s: %s", want, errs.Text(err, false))
		}
	}
}

func TestTasksInWords(t *testing.T) {
	v := values.Values{Name: "j", Image: "i", EntryScript: "t.py", InstanceType: "ml.trn1.32xlarge"}
	for by, want := range map[string]int{"": 32, "auto": 32, "gpu": 16, "cpu": 128} {
		v.TasksBy = by
		if r := rendered(t, "pytorch", v); r.TasksPerNode != want {
			t.Errorf("%q: %d, want %d", by, r.TasksPerNode, want)
		}
	}
	for by, want := range map[string]string{"gpu": "the job requests no accelerators", "cpu": "--instance-type TYPE", "tpu": "must be auto, gpu or cpu"} {
		if _, err := render.Objects(mustFind(t, "pytorch"), values.Values{Name: "j", Image: "i", EntryScript: "t.py", TasksBy: by}); errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), want) {
			t.Errorf("%s: %s", by, errs.Text(err, false))
		}
	}
}
