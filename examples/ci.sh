#!/usr/bin/env bash
# A step of a pipeline: checks a manifest, submits its job once, follows it and keeps its log.
#
#   ci.sh MANIFEST NAME KEY
#
# KEY identifies the build. A step that is repeated with the same NAME and KEY finds its job instead of starting another.
set -euo pipefail
manifest=$1 name=$2 key=$3

hyperpod validate-template "$manifest"

# Accept a job that would start now (0) or wait (8). Reject one that can never run (3), and an answer that is missing (1).
code=0
hyperpod start-job -f "$manifest" --name "$name" --idempotency-key "$key" --dry-run -o json >verdict.json || code=$?
[ ! -s verdict.json ] || jq -r '"\(.Verdict): \(.Job.Name) \(.Summary)"' verdict.json
case $code in
0 | 8) ;;
*) exit "$code" ;;
esac

hyperpod start-job -f "$manifest" --name "$name" --idempotency-key "$key"

# Follow the job to its end. The step ends with the job: 0, or 3 if the job failed. An interrupted pipeline cancels it.
hyperpod get-log "$name" -f --exit-code --on-interrupt cancel >"$name.log"
