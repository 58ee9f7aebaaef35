package jsonschema

// configField is a field of the official CLI v2's configuration files: its help,
// and its type or the fields below it.
type configField struct {
	name, help string
	schema     object
	below      []configField
	required   bool
}

var (
	text      = object{"type": []any{"string", "number", "boolean", "null"}}
	texts     = object{"anyOf": []any{text, object{"type": "array", "items": text}}}
	textMap   = object{"type": []any{"object", "null"}, "additionalProperties": text}
	whole     = object{"anyOf": []any{object{"type": []any{"integer", "null"}, "minimum": 1}, object{"type": "string", "pattern": `^([1-9][0-9]*|\$\{.+\})$`}}}
	anything  = object{}
	labelSets = object{"type": []any{"object", "null"}, "additionalProperties": texts}
)

func words(names ...any) object {
	return object{"anyOf": []any{object{"enum": append(names, nil)}, object{"type": "string", "pattern": `^\$\{.+\}$`}}}
}

func entries(required []any, names ...string) object {
	properties := object{}
	for _, n := range names {
		properties[n] = object{"type": "string"}
	}
	return object{"type": []any{"array", "null"}, "items": object{"type": []any{"object", "null"}, "properties": properties, "required": required, "additionalProperties": false}}
}

// configFields are the fields of a configuration file. Source: the field list of
// the official CLI v2.2.0 and its launcher. A test of the reader of these files
// compares them with the ones that it reads.
func configFields() []configField {
	clusterConfig := []configField{
		{name: "namespace", help: "Namespace of the job.", schema: text},
		{name: "scheduler_type", help: "Who decides when the job starts.", schema: words("SageMaker", "Kueue", "None")},
		{name: "custom_labels", help: "Labels of job and pods; the queue and the priority class are labels too.", schema: textMap},
		{name: "annotations", help: "Annotations of the job; automatic resume needs both of its own.", schema: textMap},
		{name: "priority_class_name", help: "PriorityClass of the pods.", schema: text},
		{name: "service_account_name", help: "Service account of the pods.", schema: text},
		{name: "persistent_volume_claims", help: "Claims and where they are mounted.", schema: entries([]any{"claimName", "mountPath"}, "claimName", "mountPath")},
		{name: "volumes", help: "Directories of the nodes and where they are mounted.", schema: entries([]any{"volumeName", "hostPath", "mountPath"}, "volumeName", "hostPath", "mountPath")},
		{name: "label_selector", help: "Demands on node labels.", below: []configField{
			{name: "required", help: "Labels that a node must have, with their values.", schema: labelSets},
			{name: "preferred", help: "Labels that a node should have, with their values.", schema: labelSets},
			{name: "weights", help: "The weight, 1 to 100, of each preferred label.",
				schema: object{"type": []any{"array", "null"}, "items": object{"type": "integer", "minimum": 1, "maximum": 100}}},
		}},
		{name: "pullPolicy", help: "When the image is pulled; IfNotPresent unless said.", schema: words("Always", "IfNotPresent", "Never")},
		{name: "restartPolicy", help: "When pods are started again; Never unless said.", schema: words("Always", "OnFailure", "Never", "ExitCode")},
		{name: "cleanPodPolicy", help: "Which pods go when the job ends.", schema: words("All", "Running", "None")},
	}
	return []configField{
		{name: "defaults", help: "Hydra's own; without effect.", schema: anything},
		{name: "hydra", help: "Hydra's own; without effect.", schema: anything},
		{name: "training_cfg", help: "What is run.", required: true, below: []configField{
			{name: "entry_script", help: "Script to train with, a path in the image or in the clone.", schema: text, required: true},
			{name: "script_args", help: "Arguments of the script: maps from a flag to its value, or text.",
				schema: object{"anyOf": []any{text, object{"type": "array", "items": object{"anyOf": []any{text, textMap}}}}}},
			{name: "run", help: "Name and size of the job.", required: true, below: []configField{
				{name: "name", help: "The job's name.", schema: text, required: true},
				{name: "nodes", help: "Number of nodes.", schema: whole, required: true},
				{name: "ntasks_per_node", help: "Processes on each node; one per accelerator or core of it unless said.", schema: whole},
				{name: "results_dir", help: "Without effect: a folder of the machine that submits.", schema: anything},
			}},
			{name: "pre_script", help: "Shell lines to run before.", schema: texts},
			{name: "post_script", help: "Shell lines to run after.", schema: texts},
		}},
		{name: "git", help: "Repository that is cloned in the pods before the training.", below: []configField{
			{name: "repo_url_or_path", help: "URL of the repository, https:// or codecommit::.", schema: text},
			{name: "branch", help: "Branch to clone.", schema: text},
			{name: "commit", help: "Commit to check out.", schema: text},
			{name: "token", help: "Refused: it would be readable by everybody who may read the job.", schema: object{"type": "null"}},
			{name: "update_adapter", help: "For recipes only.", schema: object{"enum": []any{false, nil}}},
		}},
		{name: "cluster", help: "Where it is run.", required: true, below: append([]configField{
			{name: "cluster_type", help: "The kind of cluster.", schema: words("k8s"), required: true},
			{name: "instance_type", help: "Instance type of the nodes, such as ml.p5.48xlarge.", schema: text, required: true},
			{name: "cluster_config", help: "Settings of the cluster.", required: true, below: clusterConfig},
		}, misplaced(clusterConfig)...)},
		{name: "base_results_dir", help: "A directory in the pods when it is absolute; else without effect.", schema: text},
		{name: "container", help: "Container image.", schema: text, required: true},
		{name: "container_mounts", help: "For Slurm only; without effect.", schema: anything},
		{name: "env_vars", help: "Environment of the job; empty values are left out.", schema: textMap, required: true},
	}
}

// misplaced are the fields that are understood one level too high, with a warning.
func misplaced(fields []configField) []configField {
	var out []configField
	for _, f := range fields {
		f.help = "Belongs into cluster_config; understood here with a warning. " + f.help
		f.required = false
		out = append(out, f)
	}
	return out
}

// Config returns the schema of configuration files of the official CLI v2.
func Config() ([]byte, error) {
	root := section(configFields())
	root["$schema"], root["$id"] = draft, "config-v2.schema.json"
	root["title"], root["description"] = "Configuration file of hyperpod start-job", "A start-job configuration file of the official HyperPod CLI v2."
	root["type"] = "object"
	return encode(root)
}

func section(fields []configField) object {
	properties, required := object{}, []any{}
	for _, f := range fields {
		o := object{}
		if f.below != nil {
			o = section(f.below)
		} else {
			for k, v := range f.schema {
				o[k] = v
			}
		}
		o["description"] = f.help
		properties[f.name] = o
		if f.required {
			required = append(required, f.name)
		}
	}
	out := object{"type": []any{"object", "null"}, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"], out["type"] = required, "object"
	}
	return out
}
