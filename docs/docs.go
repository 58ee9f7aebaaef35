// Package docs holds the documents and schemas that programs can read from the binary.
package docs

import "embed"

// Files are the pages for programs and the schemas of what the commands print. The schemas
// of templates and of old configuration files are left out: they are large, and for editors.
//
//go:embed admission-check.md exit-codes.md output.md questions.md quota.md snapshots.md
//go:embed schema/admission-check.json schema/cancel-job.json schema/doctor.json schema/error.json schema/explain-job.json
//go:embed schema/describe-cluster.json schema/get-job.json schema/get-job-verbose.json schema/explain-job-slurm.json schema/get-log.json schema/get-template.json schema/governance-check.json
//go:embed schema/list-cluster-events.json schema/list-cluster-nodes.json schema/list-instance-types.json schema/list-templates.json schema/report.json
//go:embed schema/get-queue.json schema/get-quota-by.json schema/get-quota.json schema/get-usage.json
//go:embed schema/governance-audit.json schema/governance-plan.json schema/governance.schema.json schema/list-jobs.json
//go:embed schema/list-jobs-verbose.json schema/list-pods-verbose.json schema/list-pods.json schema/patch-job.json
//go:embed schema/simulate.json schema/sweep-check.json schema/validate-template.json schema/wait-job.json schema/wait-job-deleted.json
var Files embed.FS
