package templates

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
)

func TestParseSeconds(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "3600": 3600, "90m": 5400, "7d": 604800, "1d12h": 129600, "1h30m15s": 5415} {
		if n, err := ParseSeconds("ttl", text); err != nil || *n != want {
			t.Errorf("%s: %v %v", text, n, err)
		}
	}
	for _, text := range []string{"", "-1", "-5m", "soon", "1.5s", "d", "xd", "-1d", "99999999d", "1h1d", "1e3"} {
		if text == "" {
			continue // nobody calls it with nothing
		}
		if n, err := ParseSeconds("ttl", text); err == nil || errs.ExitOf(err) != errs.Usage {
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
		got, err := ParseToleration(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got.Object()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	for _, text := range []string{"", "=v", "a b", "k=v w", "k:Never", "k:NoSchedule:30", "k:NoExecute:-1", "k:NoExecute:1:2", "*=v", "k=v:"} {
		if _, err := ParseToleration(text); errs.ExitOf(err) != errs.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseSecretEnv(t *testing.T) {
	for text, want := range map[string]SecretEnv{
		"A=s:k":    {"A", "s", "k"},
		"A=s":      {"A", "s", "A"},
		"my-token": {"", "my-token", ""},
	} {
		if got, err := ParseSecretEnv(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "=s:k", "1A=s:k", "A=", "A=s:", "A=S:k", "A=s:k/l", "-"} {
		if _, err := ParseSecretEnv(text); errs.ExitOf(err) != errs.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The same run policy at the place where each kind has it.
func TestRunPolicy(t *testing.T) {
	all := RunPolicy{CleanPodPolicy: "Running", TTL: Int(60), Deadline: Int(3600), Backoff: Int(3)}
	for _, c := range []struct {
		template, at string
		policy       RunPolicy
		want         map[string]any
	}{
		{"pytorch", "spec.runPolicy", all, map[string]any{"cleanPodPolicy": "Running", "ttlSecondsAfterFinished": int64(60), "activeDeadlineSeconds": int64(3600), "backoffLimit": int64(3)}},
		{"mpi", "spec.runPolicy", all, map[string]any{"cleanPodPolicy": "Running", "ttlSecondsAfterFinished": int64(60), "activeDeadlineSeconds": int64(3600), "backoffLimit": int64(3)}},
		{"hyperpod-pytorch", "spec.runPolicy", RunPolicy{CleanPodPolicy: "All", TTL: Int(0), Deadline: Int(9)}, map[string]any{"cleanPodPolicy": "All", "ttlSecondsAfterFinished": int64(0), "activeDeadlineSeconds": int64(9)}},
		{"testdata/manifests/job.yaml", "spec", RunPolicy{TTL: Int(60), Deadline: Int(3600), Backoff: Int(3)}, map[string]any{"ttlSecondsAfterFinished": int64(60), "activeDeadlineSeconds": int64(3600), "backoffLimit": int64(3)}},
	} {
		r := rendered(t, c.template, Values{Name: "j", Image: "i", EntryScript: "t.py", RunPolicy: c.policy})
		for k, want := range c.want {
			if got := at(t, r.Objects[0], c.at+"."+k); got != want {
				t.Errorf("%s: %s is %v, want %v", c.template, k, got, want)
			}
		}
	}
	for name, c := range map[string]struct {
		template string
		policy   RunPolicy
		want     string
	}{
		"a word":     {"pytorch", RunPolicy{CleanPodPolicy: "Runing"}, "did you mean Running?"},
		"no time":    {"pytorch", RunPolicy{Deadline: Int(0)}, "at least 1"},
		"a huge one": {"pytorch", RunPolicy{TTL: Int(1 << 40)}, "at most"},
		"no field":   {"testdata/manifests/job.yaml", RunPolicy{CleanPodPolicy: "All"}, "cannot be laid over a Job"},
		"another":    {"hyperpod-pytorch", RunPolicy{Backoff: Int(1)}, "--max-retry N"},
	} {
		_, err := Render(mustFind(t, c.template), Values{Name: "j", Image: "i", EntryScript: "t.py", RunPolicy: c.policy})
		if errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), c.want) {
			t.Errorf("%s: %s", name, errs.Text(err, false))
		}
	}
}

func TestElastic(t *testing.T) {
	v := Values{Name: "j", Image: "i", EntryScript: "t.py", NodeCount: Int(2), Elastic: Elastic{Max: Int(4)}}
	o := rendered(t, "pytorch", v).Objects[0]
	if diff := cmp.Diff(map[string]any{"minReplicas": int64(2), "maxReplicas": int64(4), "rdzvBackend": "c10d"}, at(t, o, "spec.elasticPolicy")); diff != "" {
		t.Error(diff)
	}
	if args := at(t, o, workerContainer+".args").([]any); args[0] != "--nnodes=2:4" {
		t.Errorf("arguments %q", args)
	}
	v.Elastic = Elastic{Min: Int(1), Max: Int(4), Sizes: []int{4, 2, 1}, ScalingTimeout: Int(60), ShutdownTimeout: Int(30), ScaleUpSnooze: Int(600)}
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
	r, err := Render(bare, Values{Elastic: Elastic{Max: Int(2), ScaleUpSnooze: Int(60)}})
	if err != nil || at(t, r.Objects[0], "spec.runPolicy.restartPolicy.evalPeriodSeconds") != int64(3600) {
		t.Errorf("a restart policy without the period that it has to have: %v, %v", err, r.Objects)
	}
	for name, c := range map[string]struct {
		template string
		elastic  Elastic
		want     string
	}{
		"turned round":   {"pytorch", Elastic{Min: Int(4), Max: Int(2)}, "is above"},
		"outside":        {"pytorch", Elastic{Min: Int(3), Max: Int(4)}, "is not between"},
		"nothing":        {"pytorch", Elastic{Min: Int(0)}, "at least 1"},
		"theirs":         {"pytorch", Elastic{Max: Int(4), Step: Int(2)}, "HyperPod training operator only"},
		"both":           {"hyperpod-pytorch", Elastic{Max: Int(4), Step: Int(1), Sizes: []int{2}}, "exclude each other"},
		"a step alone":   {"hyperpod-pytorch", Elastic{Step: Int(1)}, "is for an elastic job"},
		"a size too big": {"hyperpod-pytorch", Elastic{Max: Int(4), Sizes: []int{8}}, "8 is not from 1"},
		"MPI":            {"mpi", Elastic{Max: Int(4)}, "a MPIJob cannot be elastic"},
		"a master":       {"testdata/manifests/master.yaml", Elastic{Max: Int(4)}, "with a Master cannot be elastic"},
	} {
		v.Elastic = c.elastic
		_, err := Render(mustFind(t, c.template), v)
		if errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), c.want) {
			t.Errorf("%s: %s", name, errs.Text(err, false))
		}
	}
}

func TestRendezvous(t *testing.T) {
	flags := func(name string, v Values) []string {
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
	two := Values{InstanceType: "ml.p5.48xlarge", NodeCount: Int(2)}
	with := func(r Rendezvous) Values { v := two; v.Rendezvous = r; return v }
	trainium := Values{InstanceType: "ml.trn1.32xlarge", NodeCount: Int(2)}
	c10d := []string{"--rdzv_backend=c10d", "--rdzv_endpoint=j-worker-0:29400", "--rdzv_id=j"}
	static := []string{"--node_rank=$(NODE_RANK)", "--master_addr=j-worker-0", "--master_port=41000"}
	for name, c := range map[string]struct {
		template string
		values   Values
		want     []string
	}{
		"GPU":             {"pytorch", two, c10d},
		"one node":        {"pytorch", Values{InstanceType: "ml.p5.48xlarge"}, nil},
		"Trainium":        {"pytorch", trainium, static},
		"Trainium, alone": {"pytorch", Values{InstanceType: "ml.trn1.32xlarge"}, nil},
		"static":          {"pytorch", with(Rendezvous{Backend: "static"}), static},
		"a host":          {"pytorch", with(Rendezvous{Endpoint: "meet:1234"}), []string{"--rdzv_backend=c10d", "--rdzv_endpoint=meet:1234", "--rdzv_id=j"}},
		"etcd":            {"pytorch", with(Rendezvous{Backend: "etcd-v2", Endpoint: "etcd"}), []string{"--rdzv_backend=etcd-v2", "--rdzv_endpoint=etcd:2379", "--rdzv_id=j"}},
		"own etcd":        {"fsdp-llama-etcd", two, []string{"--rdzv_backend=etcd-v2", "--rdzv_endpoint=j-etcd:2379", "--rdzv_id=j"}},
		"accelerate":      {"accelerate", two, []string{"--machine_rank=$(NODE_RANK)", "--main_process_ip=j-worker-0", "--main_process_port=29500"}},
	} {
		if got := flags(c.template, c.values); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for want, r := range map[string]Rendezvous{"needs an etcd server": {Backend: "etcd"}, "did you mean c10d?": {Backend: "c10"}, "is not HOST:PORT": {Endpoint: "http://x"}} {
		v := with(r)
		v.Name, v.Image, v.EntryScript = "j", "i", "t.py"
		if _, err := Render(mustFind(t, "pytorch"), v); errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), want) {
			t.Errorf("%s: %s", want, errs.Text(err, false))
		}
	}
}

// Pods' demands and variables for every role that trains, the launcher's own apart.
func TestPlaces(t *testing.T) {
	v := Values{Name: "j", Image: "i", EntryScript: "t.py", InstanceType: "ml.p5.48xlarge", NodeCount: Int(2), RequiredTopology: "rack",
		Tolerations: []Toleration{{Key: "k", Exists: true}, {Key: "k", Exists: true}}, SecretEnv: []SecretEnv{{"NCCL_DEBUG", "s", "k"}, {"", "all", ""}, {"", "all", ""}}, ResultsDir: "/out"}
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
	for want, change := range map[string]func(*Values){
		"exclude each other": func(v *Values) { v.PreferredTopology = "zone" },
		"is no node label":   func(v *Values) { v.RequiredTopology = "a b" },
		"--environment and":  func(v *Values) { v.Environment = map[string]string{"NCCL_DEBUG": "x"} },
	} {
		bad := v
		change(&bad)
		if _, err := Render(mustFind(t, "mpi"), bad); errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), want) {
			t.Errorf("%s: %s", want, errs.Text(err, false))
		}
	}
}

func TestTasksInWords(t *testing.T) {
	v := Values{Name: "j", Image: "i", EntryScript: "t.py", InstanceType: "ml.trn1.32xlarge"}
	for by, want := range map[string]int{"": 32, "auto": 32, "gpu": 16, "cpu": 128} {
		v.TasksBy = by
		if r := rendered(t, "pytorch", v); r.TasksPerNode != want {
			t.Errorf("%q: %d, want %d", by, r.TasksPerNode, want)
		}
	}
	for by, want := range map[string]string{"gpu": "no accelerator is asked for", "cpu": "needs --instance-type", "tpu": "not one of auto, gpu, cpu"} {
		if _, err := Render(mustFind(t, "pytorch"), Values{Name: "j", Image: "i", EntryScript: "t.py", TasksBy: by}); errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), want) {
			t.Errorf("%s: %s", by, errs.Text(err, false))
		}
	}
}
