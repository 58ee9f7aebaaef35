package v2config

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

func example(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// small is the least that a file says; parts are put into its sections.
func small(training, cluster, config, top string) string {
	return "training_cfg:\n  entry_script: train.py\n" + training + "  run:\n    name: j\n    nodes: 1\n" +
		"cluster:\n  cluster_type: k8s\n  instance_type: ml.g5.xlarge\n" + cluster + "  cluster_config:\n    namespace: n\n" + config +
		"container: i\nenv_vars: {A: b}\n" + top
}

func read(t *testing.T, text string) File {
	t.Helper()
	f, err := Read("c.yaml", []byte(text), values.Values{})
	if err != nil {
		t.Fatal(errs.Text(err, true))
	}
	return f
}

func TestEveryField(t *testing.T) {
	v := read(t, example(t)).Values
	one := func(n int) *int { return &n }
	no := false
	want := values.Values{
		Name: "demo", Namespace: "hyperpod-ns-research", Image: "registry.example/train:1", PullPolicy: "IfNotPresent",
		InstanceType: "ml.p5.48xlarge", NodeCount: one(2), TasksPerNode: one(8), Environment: map[string]string{"NCCL_DEBUG": "INFO"},
		EntryScript: "/workspace/train.py", ScriptArgs: []string{"--epochs", "3", "--lr", "1e-4", "--verbose", "--out", "demo", "--level", "$(NCCL_DEBUG)"},
		LabelSelector: values.Selector{Required: map[string][]string{"sagemaker.amazonaws.com/node-health-status": {"Schedulable"}},
			Preferred: map[string][]string{"sagemaker.amazonaws.com/deep-health-check-status": {"Passed"}}, Weights: []int{100}},
		HealthAffinity: &no, ServiceAccount: "trainer", PodPriorityClass: "high", RestartPolicy: "OnFailure", AutoResume: true, MaxRetry: one(3),
		RunPolicy: values.RunPolicy{CleanPodPolicy: "Running"}, Labels: map[string]string{"example.com/team": "research"},
		Annotations: map[string]string{"example.com/ticket": "42"}, Queue: "hyperpod-ns-research-localqueue", Priority: "training-priority",
		Volumes: []values.Volume{{Type: values.PVC, Claim: "fsx-claim", MountPath: "/fsx"},
			{Name: "scratch", Type: values.HostPath, Path: "/mnt/k8s-disks/0", MountPath: "/scratch"},
			{Name: "aws-clusters-logs", Type: values.HostPath, Path: "/var/log/aws/clusters", MountPath: "/var/log/aws/clusters", ReadOnly: true, Create: true}},
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Error(diff)
	}
}

func TestUnder(t *testing.T) {
	f := read(t, small("", "", "", ""))
	if v := f.Under(values.Values{}); v.RestartPolicy != "Never" || len(v.Environment) != 1 || v.Image != "i" {
		t.Errorf("the file alone: %+v", v)
	}
	v := f.Under(values.Values{Image: "k", AutoResume: true, NodeCount: values.Int(2), Environment: map[string]string{"TORCH_DIST_INIT_BARRIER": "0"}})
	if v.RestartPolicy != "" || v.Environment["TORCH_DIST_INIT_BARRIER"] != "0" || v.Environment["A"] != "b" || v.Environment["CUDA_DEVICE_MAX_CONNECTIONS"] != "1" || v.Image != "k" {
		t.Errorf("with flags: %+v", v)
	}
}

func TestUnderstoodWithNotices(t *testing.T) {
	for name, c := range map[string]struct{ text, notice string }{
		"labels in the wrong place": {small("", "  custom_labels: {a: b, kueue.x-k8s.io/queue-name: q}\n", "", ""), "line 9:18: cluster.custom_labels belongs in cluster.cluster_config"},
		"Slurm's mounts":            {small("", "", "", "container_mounts: [/a:/b]\n"), "container_mounts has no effect here: it is for Slurm"},
		"results":                   {small("", "", "", "base_results_dir: ./elsewhere\n"), "only an absolute path"},
		"an underscore":             {strings.Replace(small("", "", "", ""), "name: j", "name: my_job", 1), "the job is named my-job: Kubernetes allows no _"},
		"a shell's variable":        {small("  script_args: [\"--x $HOME\"]\n", "", "", ""), "$HOME in script_args stays"},
		"a newer type":              {strings.Replace(small("", "", "", ""), "ml.g5.xlarge", "ml.g5.3xlarge", 1), "is not a known instance type; did you mean"},
	} {
		f := read(t, c.text)
		if !strings.Contains(strings.Join(f.Notices, "\n"), c.notice) {
			t.Errorf("%s: %q", name, f.Notices)
		}
		if name == "labels in the wrong place" && (f.Values.Labels["a"] != "b" || f.Values.Queue != "q") {
			t.Errorf("%s: %+v", name, f.Values)
		}
	}
}

func TestForms(t *testing.T) {
	for args, want := range map[string][]string{
		"[--a]":                               {"--a"},
		"[{--a: 1}, --b=2, '--c \"d e\"']":    {"--a", "1", "--b=2", "--c", "d e"},
		"--a 1 --b":                           {"--a", "1", "--b"},
		"[{--a: True, --b: 1.0}, {--c: '7'}]": {"--a", "True", "--b", "1.0", "--c", "7"},
		"[{--a: $A}, '--b ${A}/x']":           {"--a", "$(A)", "--b", "$(A)/x"},
		"[{--a: '${training_cfg.run.name}'}]": {"--a", "j"},
		"[]":                                  nil,
		"null":                                nil,
	} {
		f := read(t, small("  script_args: "+args+"\n", "", "", ""))
		if diff := cmp.Diff(want, f.Values.ScriptArgs); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
	f := read(t, small("  pre_script: [pip install x, 'echo ${X:-1}']\n  post_script: echo done\n", "", "", "git: {repo_url_or_path: 'https://example.com/r.git', branch: main, commit: abc}\nbase_results_dir: /fsx/out\n"))
	if len(f.Values.PreScript) != 6 || f.Values.PreScript[2] != "cd /tmp/checkout" || f.Values.PreScript[3] != "git checkout 'abc'" || f.Values.PreScript[5] != "echo ${X:-1}" {
		t.Errorf("lines before: %q", f.Values.PreScript)
	}
	if len(f.Values.PostScript) != 2 || f.Values.PostScript[0] != "echo done" || f.Values.ResultsDir != "/fsx/out" {
		t.Errorf("lines after: %q, results %q", f.Values.PostScript, f.Values.ResultsDir)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown field":          {small("", "", "    pulPolicy: Always\n", ""), `line 11:5: no field "pulPolicy" in cluster.cluster_config; did you mean "pullPolicy"?`},
		"unknown section":        {small("", "", "", "foo: 1\n"), "accepted: defaults, hydra, training_cfg"},
		"a word":                 {small("", "", "    restartPolicy: Sometimes\n", ""), "line 11:20: cluster.cluster_config.restartPolicy is \"Sometimes\": must be Always, OnFailure, Never or ExitCode"},
		"scheduler":              {small("", "", "    scheduler_type: slurm\n", ""), "must be SageMaker, Kueue or None"},
		"not k8s":                {strings.Replace(small("", "", "", ""), "cluster_type: k8s", "cluster_type: slurm", 1), "line 7:17: cluster.cluster_type is \"slurm\": must be k8s"},
		"a number":               {strings.Replace(small("", "", "", ""), "nodes: 1", "nodes: zero", 1), "line 5:12: training_cfg.run.nodes is the text \"zero\": must be a whole number from 1"},
		"no nodes":               {strings.Replace(small("", "", "", ""), "nodes: 1", "nodes: 0", 1), "must be a whole number from 1"},
		"a map for text":         {strings.Replace(small("", "", "", ""), "container: i", "container: {a: b}", 1), "container is a map: must be one value"},
		"everything missing":     {"training_cfg: {run: {}}\n", "cluster.cluster_config is missing"},
		"no cluster":             {"training_cfg: {}\ncontainer: i\nenv_vars: {A: b}\n", "cluster.cluster_type is missing: k8s"},
		"one annotation":         {small("", "", "    annotations: {sagemaker.amazonaws.com/enable-job-auto-resume: true}\n", ""), "automatic resume needs both"},
		"the other":              {small("", "", "    annotations: {sagemaker.amazonaws.com/job-max-retry-count: 3}\n", ""), "without sagemaker.amazonaws.com/enable-job-auto-resume"},
		"resume without restart": {small("", "", "    annotations: {sagemaker.amazonaws.com/enable-job-auto-resume: true, sagemaker.amazonaws.com/job-max-retry-count: 3}\n    restartPolicy: Never\n", ""), "automatic resume needs OnFailure"},
		"half a claim":           {small("", "", "    persistent_volume_claims: [{claimName: a}]\n", ""), "persistent_volume_claims[0] has no mountPath"},
		"half a volume":          {small("", "", "    volumes: [{volumeName: a, mountPath: /m}]\n", ""), "volumes[0] has no hostPath"},
		"a relative mount":       {small("", "", "    persistent_volume_claims: [{claimName: a, mountPath: data}]\n", ""), "paths are absolute"},
		"weights":                {small("", "", "    label_selector: {preferred: {a: [b]}, weights: [0]}\n", ""), "must be a whole number from 1 to 100"},
		"more weights":           {small("", "", "    label_selector: {preferred: {a: [b]}, weights: [1, 2]}\n", ""), "2 weights for 1 preferred labels"},
		"a token":                {small("", "", "", "git: {repo_url_or_path: 'https://e.com/r', token: hunter2}\n"), "--environment-from-secret GIT_TOKEN=SECRET:KEY"},
		"a local repository":     {small("", "", "", "git: {repo_url_or_path: /home/me/r}\n"), "pods see no folder of this machine"},
		"an option as a branch":  {small("", "", "", "git: {repo_url_or_path: 'https://e.com/r', branch: --upload-pack=x}\n"), "is not a branch or commit"},
		"a quote in the URL":     {small("", "", "", "git: {repo_url_or_path: \"https://e.com/r' ; rm -rf / '\"}\n"), "has to start with https://"},
		"a resolver":             {small("  script_args: ['${oc.env:HOME}']\n", "", "", ""), "the resolver \"oc.env\" of OmegaConf is not understood"},
		"a dangling reference":   {small("  script_args: ['${a.b}']\n", "", "", ""), "the file has no value \"a.b\""},
		"a circle":               {strings.Replace(small("", "", "", ""), "container: i", "container: ${container}", 1), "a cycle"},
		"an open quote":          {small("  script_args: [\"--a 'b\"]\n", "", "", ""), "a quote that is not closed"},
		"a name":                 {strings.Replace(small("", "", "", ""), "name: j", "name: My Job!", 1), "line 4:11: training_cfg.run.name: \"My Job!\" is not a valid job name: use lower-case letters"},
		"an image":               {strings.Replace(small("", "", "", ""), "container: i", "container: a b", 1), "line 11:12: container: \"a b\" is not a valid image"},
		"a namespace":            {strings.Replace(small("", "", "", ""), "namespace: n", "namespace: A_B", 1), "line 10:16: cluster.cluster_config.namespace: \"A_B\" is not a valid namespace"},
		"a service account":      {small("", "", "    service_account_name: S A\n", ""), "line 11:27: cluster.cluster_config.service_account_name: \"S A\" is not a valid service account name"},
		"a label":                {small("", "", "    custom_labels:\n      a: b c\n", ""), "line 12:7: cluster.cluster_config.custom_labels: \"b c\" is not a valid value of the label a"},
		"an annotation":          {small("", "", "    annotations: {b d: x}\n", ""), "line 11:19: cluster.cluster_config.annotations: \"b d\" is not a valid annotation name"},
		"a variable":             {strings.Replace(small("", "", "", ""), "{A: b}", "{1A: b}", 1), "line 12:12: env_vars: \"1A\" is not a valid name of an environment variable"},
		"twice":                  {small("", "", "", "container: j\n"), "is given twice (first in line"},
		"placed twice":           {small("", "  custom_labels: {a: b}\n", "    custom_labels: {a: c}\n", ""), "which has it in line"},
		"tabs":                   {"training_cfg:\n\tentry_script: x\n", "the line is indented with a tab"},
		"Helm":                   {small("", "", "", "x: {{ .Values.x }}\n"), "belongs to Helm or Jinja"},
		"a list":                 {"- a\n", "a configuration file is a map"},
		"two documents":          {small("", "", "", "---\na: b\n"), "2 YAML documents found"},
		"5 MB":                   {small("", "", "", "# ") + strings.Repeat("x", 5<<20), "larger than 4 MiB"},
		"a bomb":                 {"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e]\n", "after expanding aliases"},
	} {
		_, err := Read("c.yaml", []byte(c.text), values.Values{})
		text := errs.Text(err, false)
		if err == nil || errs.ExitOf(err) != errs.Usage || !strings.Contains(text, "c.yaml") || !strings.Contains(strings.ReplaceAll(text, ":  ", ": "), c.want) {
			t.Errorf("%s: want %q, got\n%s", name, c.want, text)
		}
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s: the token is shown", name)
		}
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := Read("c.yaml", []byte("training_cfg: {run: {nodes: x}}\nenv_vars: {}\n"), values.Values{})
	for _, want := range []string{"training_cfg.run.nodes", "entry_script is missing", "training_cfg.run.name is missing", "container is missing", "cluster.instance_type is missing"} {
		if !strings.Contains(errs.Text(err, false), want) {
			t.Errorf("%q is not in\n%s", want, errs.Text(err, false))
		}
	}
}

// A value that a flag overrides is not checked; faults are reported with their lines.
func TestFlagsInPlaceOfFaults(t *testing.T) {
	text := strings.NewReplacer("name: j", "name: My Job!", "container: i", "container: a b", "namespace: n", "namespace: A_B").Replace(small("", "", "    service_account_name: S A\n", ""))
	if _, err := Read("c.yaml", []byte(text), values.Values{Name: "j", Image: "i", Namespace: "n", ServiceAccount: "s"}); err != nil {
		t.Error(errs.Text(err, false))
	}
	_, err := Read("c.yaml", []byte(text), values.Values{})
	message := errs.Text(err, false)
	if at := []int{strings.Index(message, "line 4:"), strings.Index(message, "line 10:"), strings.Index(message, "line 11:"), strings.Index(message, "line 12:")}; !slices.IsSorted(at) || at[0] < 0 {
		t.Errorf("places %d in\n%s", at, message)
	}
}

// What flags say need not be in the file; ??? is OmegaConf's word for what has yet
// to be given.
func TestFlagsCompleteTheFile(t *testing.T) {
	text := "training_cfg:\n  entry_script: ???\n  run: {nodes: '???'}\ncluster:\n  cluster_type: k8s\n  instance_type: ???\n  cluster_config: {}\nbase_results_dir: ???\n"
	flags := values.Values{Name: "j", EntryScript: "t.py", NodeCount: values.Int(1), InstanceType: "ml.g5.xlarge", Image: "i", Environment: map[string]string{"A": "b"}}
	f, err := Read("c.yaml", []byte(text), flags)
	if err != nil || len(f.Notices) > 0 {
		t.Errorf("%s %q", errs.Text(err, false), f.Notices)
	}
	_, err = Read("c.yaml", []byte(text), values.Values{})
	for _, want := range []string{"training_cfg.entry_script is missing", "(or --entry-script)", "(or --name)", "(or --node-count)", "(or --instance-type)", "(or --image)"} {
		if !strings.Contains(errs.Text(err, false), want) {
			t.Errorf("%q is not in\n%s", want, errs.Text(err, false))
		}
	}
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		example(t):                     true,
		"training_cfg: {}\n":           true,
		"cluster: {}\nenv_vars: {}\n":  true,
		"training_cfg:\n\tx: y\n":      true,
		"cluster: {a: b}\n":            false,
		"kind: Job\ntraining_cfg: {}":  false,
		"apiVersion: v1\nkind: Pod\n":  false,
		"kind: Job\n---\nkind: Pod\n":  false,
		"":                             false,
		"a: [\n":                       false,
		"\ufefftraining_cfg: {a: b}\n": true,
	} {
		if got := Is([]byte(text)); got != want {
			t.Errorf("%.40q: %v", text, got)
		}
	}
}

// FuzzRead: no text makes the reader panic, every error names the file, and what
// is accepted renders or is refused in words.
func FuzzRead(f *testing.F) {
	f.Add(example(f))
	f.Add(small("  script_args: ['--a ${A}', {--b: null}]\n", "  custom_labels: {a: b}\n", "    volumes: [{volumeName: a, hostPath: /h, mountPath: /m}]\n", "git: {repo_url_or_path: https://e.com/r}\n"))
	f.Add("training_cfg: &a {run: *a}\n")
	f.Add("training_cfg: {run: {name: '${training_cfg.run.name}'}}\n")
	tm, err := catalogue.Find("pytorch", catalogue.Dirs{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_ = Is([]byte(text))
		file, err := Read("c.yaml", []byte(text), values.Values{})
		if err == nil {
			_, err = render.Objects(tm, file.Under(values.Values{}))
		} else if !strings.Contains(errs.Text(err, true), "c.yaml") {
			t.Errorf("the error does not name the file: %v", err)
		}
		if err != nil && errs.ExitOf(err) != errs.Usage {
			t.Errorf("exit code %d: %v", errs.ExitOf(err), err)
		}
	})
}
