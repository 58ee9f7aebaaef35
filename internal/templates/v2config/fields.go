package v2config

import (
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// fields returns all fields of a configuration file: the table behind the reader and
// the JSON Schema. Source: the field list of the official CLI v2.2.0 and its
// launcher.
func fields() []Field {
	return []Field{
		nothing("defaults", "Setting of Hydra; has no effect.", ""), // the same in every file
		nothing("hydra", "Setting of Hydra; has no effect.", ""),
		section("training_cfg", "Program of the job.", []Field{
			text("entry_script", "Path of the training script in the image or in the clone.", func(r *reader) *string { return &r.file.Values.EntryScript }).
				need("the training script (or "+setting.EntryScript.Flag()+")", func(v values.Values) bool { return v.EntryScript != "" }),
			{Name: "script_args", Help: "Arguments of the script: maps from a flag to its value, or text.", Type: Arguments, read: (*reader).scriptArgs},
			section("run", "Name and size of the job.", []Field{
				text("name", "Name of the job.", func(r *reader) *string { return &r.file.Values.Name }).
					need("the name of the job (or "+setting.Name.Flag()+")", func(v values.Values) bool { return v.Name != "" }),
				number("nodes", "Number of nodes.", func(r *reader) **int { return &r.file.Values.NodeCount }).
					need("the number of nodes (or "+setting.NodeCount.Flag()+")", func(v values.Values) bool { return v.NodeCount != nil }),
				number("ntasks_per_node", "Processes on each node (default one per accelerator or core).", func(r *reader) **int { return &r.file.Values.TasksPerNode }),
				nothing("results_dir", "Has no effect: a folder of the machine that submits.", "v2 wrote its chart there, on the machine that submits"),
			}),
			lines("pre_script", "Shell lines to run before the script.", func(r *reader) *[]string { return &r.file.Values.PreScript }),
			lines("post_script", "Shell lines to run after the script succeeds.", func(r *reader) *[]string { return &r.file.Values.PostScript }),
		}),
		{Name: "git", Help: "Repository to clone in the pods before the training.", Type: Section, Below: gitFields(), read: (*reader).clone},
		section("cluster", "Cluster of the job.", append([]Field{
			oneOf("cluster_type", "Kind of cluster.", func(*reader) *string { return new(string) }, "k8s").need("k8s", nil),
			Field{Name: "instance_type", Help: "Instance type of the nodes, such as ml.p5.48xlarge.", Type: Text, read: (*reader).instanceType}.
				need("such as ml.p5.48xlarge (or "+setting.InstanceType.Flag()+")", func(v values.Values) bool { return v.InstanceType != "" }),
			section("cluster_config", "Settings of the cluster.", clusterConfig()).need("a map, {} at least", nil),
		}, misplaced(clusterConfig())...)),
		{Name: "base_results_dir", Help: "Directory in the pods if the path is absolute; otherwise it has no effect.", Type: Text, read: (*reader).results},
		text("container", "Container image.", func(r *reader) *string { return &r.file.Values.Image }).
			need("the image (or "+setting.Image.Flag()+")", func(v values.Values) bool { return v.Image != "" }),
		nothing("container_mounts", "For Slurm only; has no effect.", "it is for Slurm"),
		Field{Name: "env_vars", Help: "Environment variables of the job; empty values are left out.", Type: Map, read: (*reader).environment}.
			need("a map, {} at least", func(v values.Values) bool { return len(v.Environment) > 0 }),
	}
}

// clusterConfig returns the fields of cluster.cluster_config.
func clusterConfig() []Field {
	return []Field{
		text("namespace", "Namespace of the job.", func(r *reader) *string { return &r.file.Values.Namespace }),
		oneOf("scheduler_type", "Scheduler of the job.", func(r *reader) *string { return &r.file.SchedulerType }, "SageMaker", "Kueue", "None"),
		{Name: "custom_labels", Help: "Labels of the job and its pods, including the queue and the priority class.", Type: Map, read: (*reader).labels},
		{Name: "annotations", Help: "Annotations of the job. Automatic resume needs both of its annotations.", Type: Map, read: (*reader).annotations},
		text("priority_class_name", "PriorityClass of the pods.", func(r *reader) *string { return &r.file.Values.PodPriorityClass }),
		text("service_account_name", "Service account of the pods.", func(r *reader) *string { return &r.file.Values.ServiceAccount }),
		entries("persistent_volume_claims", "PersistentVolumeClaims and their mount paths.", func(f map[string]string) (values.Volume, error) {
			return values.ParsePVC(f["claimName"] + ":" + f["mountPath"])
		}, "claimName", "mountPath"),
		entries("volumes", "Directories of the nodes and their mount paths.", func(f map[string]string) (values.Volume, error) {
			return values.ParseVolume(f["volumeName"] + ":" + f["hostPath"] + ":" + f["mountPath"])
		}, "volumeName", "hostPath", "mountPath"),
		{Name: "label_selector", Help: "Node label requirements.", Type: Section, Below: selectorFields(), read: (*reader).selector},
		oneOf("pullPolicy", "Image pull policy (default IfNotPresent).", func(r *reader) *string { return &r.file.Values.PullPolicy }, "Always", "IfNotPresent", "Never"),
		oneOf("restartPolicy", "Restart policy of the pods (default Never).", func(r *reader) *string { return &r.file.Values.RestartPolicy }, "Always", "OnFailure", "Never", "ExitCode"),
		oneOf("cleanPodPolicy", "Pods to delete when the job ends.", func(r *reader) *string { return &r.file.Values.RunPolicy.CleanPodPolicy }, "All", "Running", "None"),
	}
}

// misplaced returns the fields that are accepted one level too high, with a warning. v2 ignored them there
// silently, and a sample of AWS has them there.
func misplaced(fields []Field) []Field {
	for i, f := range fields {
		fields[i].Help = "Belongs in cluster_config; accepted here with a warning. " + f.Help
		fields[i].read = func(r *reader, at string, t manifest.Tree) {
			inside := r.root.Get("cluster").Get("cluster_config").Get(f.Name)
			switch {
			case t.IsNull():
			case !inside.IsNull():
				r.faults.Addf(t.At(), "%s belongs in cluster.cluster_config, which has it in line %d", at, inside.At().Line)
			default:
				r.notef(t.At(), "%s belongs in cluster.cluster_config; it is used from there", at)
				f.read(r, "cluster.cluster_config."+f.Name, t)
			}
		}
	}
	return fields
}

func (r *reader) instanceType(at string, t manifest.Tree) {
	s, ok := r.text(at, t)
	if !ok {
		return
	}
	r.file.Values.InstanceType = s
	if _, known := instances.Lookup(s); known {
		return
	}
	// A newer type may be the cluster's; the renderer asks it and refuses the rest.
	r.notef(t.At(), "%s %q is not a known instance type%s", at, manifest.Clip(s), manifest.DidYouMean(instances.Near(s)))
}

func (r *reader) labels(at string, t manifest.Tree) {
	r.pairs(at, t, func(key, value string, where manifest.Position) {
		r.refuse(where, at, values.NotLabel(key, value))
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

func (r *reader) annotations(at string, t manifest.Tree) {
	resume, retries := false, manifest.Tree{}
	resumedAt := manifest.Position{}
	r.pairs(at, t, func(key, value string, where manifest.Position) {
		switch key {
		case kinds.AutoResumeAnnotation:
			b, err := strconv.ParseBool(value)
			if err != nil {
				r.faults.Addf(where, "%s.%s is %q: must be true or false", at, key, manifest.Clip(value))
			}
			resume, resumedAt = b, where
		case kinds.MaxRetryAnnotation:
			retries = t.Get(key)
			n, ok := wholeNumber(value)
			if !ok || n < 0 {
				r.faults.Addf(where, "%s.%s is %q: must be a whole number", at, key, manifest.Clip(value))
				return
			}
			r.file.Values.MaxRetry = &n
		default:
			r.refuse(where, at, values.NotAnnotation(key))
			set(&r.file.Values.Annotations, key, value)
		}
	})
	r.file.Values.AutoResume = resume
	switch {
	case resume && retries.IsNull():
		r.faults.Addf(resumedAt, "%s has %s without %s: automatic resume needs both", at, kinds.AutoResumeAnnotation, kinds.MaxRetryAnnotation)
	case !resume && !retries.IsNull():
		r.faults.Addf(retries.At(), "%s has %s without %s: \"true\"", at, kinds.MaxRetryAnnotation, kinds.AutoResumeAnnotation)
	}
}

func set(m *map[string]string, key, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = value
}

func (r *reader) environment(at string, t manifest.Tree) {
	r.pairs(at, t, func(key, value string, where manifest.Position) {
		r.refuse(where, at, values.NotVariable(key))
		set(&r.file.Values.Environment, key, value)
	})
}

// results accepts a directory in the pods. v2 replaced every value by a folder of the
// machine that submits.
func (r *reader) results(at string, t manifest.Tree) {
	switch s, ok := r.text(at, t); {
	case !ok:
	case strings.HasPrefix(s, "/"):
		r.file.Values.ResultsDir = s
	case s != "./results":
		r.notef(t.At(), "%s %q has no effect: only an absolute path can be a directory in the pods", at, manifest.Clip(s))
	}
}

// finish checks what concerns several fields, and completes the values.
func (r *reader) finish() {
	v := &r.file.Values
	r.missing("", fields())
	if p := v.RestartPolicy; v.AutoResume && p != "" && p != "OnFailure" {
		r.faults.Addf(r.valueAt("cluster.cluster_config.restartPolicy"), "cluster.cluster_config.restartPolicy is %s: automatic resume needs OnFailure", p)
	}
	if name := strings.ReplaceAll(v.Name, "_", "-"); name != v.Name && r.flags.Name == "" {
		r.notef(r.valueAt("training_cfg.run.name"), "the job is named %s: Kubernetes allows no _", name)
		v.Name = name
	}
	for _, one := range []struct {
		path, file, flag string
		not              func(string) string
	}{
		{"training_cfg.run.name", v.Name, r.flags.Name, values.NotJobName},
		{"container", v.Image, r.flags.Image, values.NotImage},
		{"cluster.cluster_config.namespace", v.Namespace, r.flags.Namespace, kinds.NotNamespace},
		{"cluster.cluster_config.service_account_name", v.ServiceAccount, r.flags.ServiceAccount, values.NotServiceAccount},
	} {
		if one.file != "" && one.flag == "" {
			r.refuse(r.valueAt(one.path), one.path, one.not(one.file))
		}
	}
	v.ScriptArgs = r.words()
	if before, after, err := Checkout(r.git.url, r.git.branch, r.git.commit); err == nil { // else it is a fault already
		v.PreScript, v.PostScript = append(before, v.PreScript...), append(v.PostScript, after...)
	}
	if r.selected { // the requirements of the file replace the default ones
		no := false
		v.HealthAffinity = &no
	}
	v.Volumes = append(v.Volumes, values.Volume{Name: "aws-clusters-logs", Type: values.HostPath, Path: "/var/log/aws/clusters",
		MountPath: "/var/log/aws/clusters", ReadOnly: true, Create: true})
}

// missing reports required fields that neither the file nor a flag sets.
func (r *reader) missing(at string, fields []Field) {
	for _, f := range fields {
		path := join(at, f.Name)
		if f.what != "" && !r.seen[path] && (f.flagged == nil || !f.flagged(r.flags)) {
			r.faults.Addf(r.positionOf(path), "%s is missing: %s", path, f.what)
		}
		r.missing(path, f.Below)
	}
}

// refuse notes why a value cannot be what its field wants, unless why is "".
func (r *reader) refuse(where manifest.Position, at, why string) {
	if why != "" {
		r.faults.Addf(where, "%s: %s", at, why)
	}
}

// positionOf returns the position of the deepest part of a path that the file has.
func (r *reader) positionOf(path string) (found manifest.Position) {
	at := r.root
	for _, key := range strings.Split(path, ".") {
		for _, e := range at.Entries() {
			if e.Key == key {
				found = e.At
			}
		}
		at = at.Get(key)
	}
	return found
}

// valueAt returns the position of the value at a path, or of the deepest part that the file has.
func (r *reader) valueAt(path string) manifest.Position {
	at := r.root
	for _, key := range strings.Split(path, ".") {
		at = at.Get(key)
	}
	if at.IsNull() {
		return r.positionOf(path)
	}
	return at.At()
}
