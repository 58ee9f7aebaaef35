package v2config

import (
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// top reads the file's sections.
func (r *reader) top() {
	r.section("", r.root, []field{
		{"defaults", nothing("")}, // Hydra's own, the same in every file
		{"hydra", nothing("")},
		{"training_cfg", (*reader).training},
		{"git", (*reader).clone},
		{"cluster", (*reader).cluster},
		{"base_results_dir", (*reader).results},
		{"container", into(func(r *reader) *string { return &r.file.Values.Image })},
		{"container_mounts", nothing("it is for Slurm")},
		{"env_vars", (*reader).environment},
	})
}

func (r *reader) training(at string, t templates.Tree) {
	r.section(at, t, []field{
		{"entry_script", into(func(r *reader) *string { return &r.file.Values.EntryScript })},
		{"script_args", (*reader).scriptArgs},
		{"run", func(r *reader, at string, t templates.Tree) {
			r.section(at, t, []field{
				{"name", into(func(r *reader) *string { return &r.file.Values.Name })},
				{"nodes", number(func(r *reader) **int { return &r.file.Values.NodeCount })},
				{"ntasks_per_node", number(func(r *reader) **int { return &r.file.Values.TasksPerNode })},
				{"results_dir", nothing("v2 wrote its chart there, on the machine that submits")},
			})
		}},
		{"pre_script", lines(func(r *reader) *[]string { return &r.file.Values.PreScript })},
		{"post_script", lines(func(r *reader) *[]string { return &r.file.Values.PostScript })},
	})
}

// clusterConfig are the fields of cluster.cluster_config.
var clusterConfig = []field{
	{"namespace", into(func(r *reader) *string { return &r.file.Values.Namespace })},
	{"scheduler_type", oneOf(func(r *reader) *string { return &r.file.SchedulerType }, "SageMaker", "Kueue", "None")},
	{"custom_labels", (*reader).labels},
	{"annotations", (*reader).annotations},
	{"priority_class_name", into(func(r *reader) *string { return &r.file.Values.PodPriorityClass })},
	{"service_account_name", into(func(r *reader) *string { return &r.file.Values.ServiceAccount })},
	{"persistent_volume_claims", (*reader).claims},
	{"volumes", (*reader).volumes},
	{"label_selector", (*reader).selector},
	{"pullPolicy", oneOf(func(r *reader) *string { return &r.file.Values.PullPolicy }, "Always", "IfNotPresent", "Never")},
	{"restartPolicy", oneOf(func(r *reader) *string { return &r.file.Values.RestartPolicy }, "Always", "OnFailure", "Never", "ExitCode")},
	{"cleanPodPolicy", oneOf(func(r *reader) *string { return &r.file.Values.RunPolicy.CleanPodPolicy }, "All", "Running", "None")},
}

func (r *reader) cluster(at string, t templates.Tree) {
	fields := []field{
		{"cluster_type", func(r *reader, at string, t templates.Tree) {
			if s, ok := r.text(at, t); ok && s != "k8s" {
				r.faults.Addf(t.Line(), "%s is %q, want k8s", at, clip(s))
			}
		}},
		{"instance_type", (*reader).instanceType},
		{"cluster_config", func(r *reader, at string, t templates.Tree) { r.section(at, t, clusterConfig) }},
	}
	// One level up they were ignored without a word, in an AWS sample too.
	for _, f := range clusterConfig {
		inside := t.Get("cluster_config").Get(f.name)
		fields = append(fields, field{f.name, func(r *reader, at string, t templates.Tree) {
			if t.IsNull() {
				return
			}
			if !inside.IsNull() {
				r.faults.Addf(t.Line(), "%s belongs into cluster.cluster_config, which has its own in line %d", at, inside.Line())
				return
			}
			r.notef(t.Line(), "%s belongs into cluster.cluster_config, and is taken as if it were there", at)
			f.read(r, "cluster.cluster_config."+f.name, t)
		}})
	}
	r.section(at, t, fields)
}

func (r *reader) instanceType(at string, t templates.Tree) {
	s, ok := r.text(at, t)
	if !ok {
		return
	}
	r.file.Values.InstanceType = s
	if _, known := instances.Lookup(s); known {
		return
	}
	// A newer type may be the cluster's; the renderer asks it and refuses the rest.
	if near := instances.Near(s); len(near) > 0 {
		r.notef(t.Line(), "%s %q is in no table, did you mean %s?", at, clip(s), strings.Join(near, " or "))
	}
}

func (r *reader) labels(at string, t templates.Tree) {
	r.pairs(at, t, func(key, value string, _ int) {
		switch key {
		case kinds.QueueLabel:
			r.file.Values.Queue = value
		case kinds.PriorityLabel:
			r.file.Values.Priority = value
		default:
			set(&r.file.Values.Labels, key, value)
		}
	})
}

func (r *reader) annotations(at string, t templates.Tree) {
	resume, retries := false, templates.Tree{}
	resumeLine := 0
	r.pairs(at, t, func(key, value string, line int) {
		switch key {
		case kinds.AutoResumeAnnotation:
			b, err := strconv.ParseBool(value)
			if err != nil {
				r.faults.Addf(line, "%s.%s is %q, want true or false", at, key, clip(value))
			}
			resume, resumeLine = b, line
		case kinds.MaxRetryAnnotation:
			retries = t.Get(key)
			n, ok := wholeNumber(value)
			if !ok || n < 0 {
				r.faults.Addf(line, "%s.%s is %q, want a whole number", at, key, clip(value))
				return
			}
			r.file.Values.MaxRetry = &n
		default:
			set(&r.file.Values.Annotations, key, value)
		}
	})
	r.file.Values.AutoResume = resume
	switch {
	case resume && retries.IsNull():
		r.faults.Addf(resumeLine, "%s has %s and not %s: automatic resume needs both", at, kinds.AutoResumeAnnotation, kinds.MaxRetryAnnotation)
	case !resume && !retries.IsNull():
		r.faults.Addf(retries.Line(), "%s has %s without %s: \"true\"", at, kinds.MaxRetryAnnotation, kinds.AutoResumeAnnotation)
	}
}

func set(m *map[string]string, key, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = value
}

func (r *reader) environment(at string, t templates.Tree) {
	r.pairs(at, t, func(key, value string, _ int) { set(&r.file.Values.Environment, key, value) })
}

// results honours a directory inside the pods. v2 replaced whatever was given by a
// folder of the machine that submits.
func (r *reader) results(at string, t templates.Tree) {
	switch s, ok := r.text(at, t); {
	case !ok:
	case strings.HasPrefix(s, "/"):
		r.file.Values.ResultsDir = s
	case s != "./results":
		r.notef(t.Line(), "%s %q does nothing here: only an absolute path can be a directory in the pods", at, clip(s))
	}
}

// finish checks what concerns several fields, and completes the values.
func (r *reader) finish() {
	v := &r.file.Values
	for _, need := range []struct {
		path, what string
		flagged    bool
	}{
		{"training_cfg.entry_script", "the script to train with (or --entry-script)", r.flags.EntryScript != ""},
		{"training_cfg.run.name", "the job's name (or --name)", r.flags.Name != ""},
		{"training_cfg.run.nodes", "the number of nodes (or --node-count)", r.flags.NodeCount != nil},
		{"cluster.cluster_type", "k8s", false},
		{"cluster.instance_type", "such as ml.p5.48xlarge (or --instance-type)", r.flags.InstanceType != ""},
		{"cluster.cluster_config", "a map, {} at least", false},
		{"container", "the image (or --image)", r.flags.Image != ""},
		{"env_vars", "a map, {} at least", len(r.flags.Environment) > 0},
	} {
		if !r.seen[need.path] && !need.flagged {
			r.faults.Addf(r.lineOf(need.path), "%s is missing: %s", need.path, need.what)
		}
	}
	if p := v.RestartPolicy; v.AutoResume && p != "" && p != "OnFailure" {
		r.faults.Addf(r.lineOf("cluster.cluster_config.restartPolicy"), "cluster.cluster_config.restartPolicy is %s, and automatic resume needs OnFailure", p)
	}
	if name := strings.ReplaceAll(v.Name, "_", "-"); name != v.Name && r.flags.Name == "" {
		r.notef(r.lineOf("training_cfg.run.name"), "the job is named %s: Kubernetes allows no _", name)
		v.Name = name
	}
	v.ScriptArgs = r.words()
	if before, after, err := Checkout(r.git.url, r.git.branch, r.git.commit); err == nil { // else it is a fault already
		v.PreScript, v.PostScript = append(before, v.PreScript...), append(v.PostScript, after...)
	}
	if r.selected { // what the file demands of nodes is all that is demanded
		no := false
		v.HealthAffinity = &no
	}
	v.Volumes = append(v.Volumes, templates.Volume{Name: "aws-clusters-logs", Type: templates.HostPath, Path: "/var/log/aws/clusters",
		MountPath: "/var/log/aws/clusters", ReadOnly: true, Create: true})
}

// lineOf is the line of the deepest part of a path that the file has.
func (r *reader) lineOf(path string) int {
	at, line := r.root, 0
	for _, key := range strings.Split(path, ".") {
		for _, e := range at.Entries() {
			if e.Key == key {
				line = e.Line
			}
		}
		at = at.Get(key)
	}
	return line
}
