package startjob

import "github.com/hyperpod-cli/hyperpod/internal/cli/factory"

// flagGroups are the headings of the help.
var flagGroups = []factory.FlagGroup{
	{Title: "What to start", Flags: []string{"name", "job-name", "generate-name", "config-file", "template", "job-kind", "from", "recipe", "override-parameters", "set"}},
	{Title: "Program", Flags: []string{"image", "pull-policy", "command", "entry-script", "script-args", "environment", "environment-from-secret",
		"pre-script", "post-script", "results-dir", "rdzv-backend", "rdzv-endpoint"}},
	{Title: "Size", Flags: []string{"instance-type", "node-count", "tasks-per-node", "accelerators", "efa", "vcpu", "memory", "vcpu-limit", "memory-limit",
		"accelerator-partition-type", "accelerator-partition-count"}},
	{Title: "Elastic size", Flags: []string{"min-node-count", "max-node-count", "elastic-replica-increment-step", "elastic-replica-discrete-values",
		"elastic-scaling-timeout-in-seconds", "elastic-graceful-shutdown-timeout-in-seconds", "elastic-scale-up-snooze-time-in-seconds"}},
	{Title: "Queue and priority", Flags: []string{"scheduler-type", "queue-name", "priority"}},
	{Title: "Nodes", Flags: []string{"label-selector", "node-selector", "toleration", "deep-health-check-passed-nodes-only", "preferred-topology", "required-topology"}},
	{Title: "Storage and identity", Flags: []string{"persistent-volume-claims", "volumes", "service-account-name", "label", "annotation"}},
	{Title: "Failures and end", Flags: []string{"restart-policy", "auto-resume", "max-retry", "backoff-limit", "active-deadline", "ttl-after-finished", "clean-pod-policy"}},
	{Title: "Submission", Flags: []string{"dry-run", "assume-duration", "replace", "edit", "wait", "follow", "timeout", "idempotency-key"}},
}
