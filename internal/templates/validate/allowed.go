package validate

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// allowed is what the definition of a kind, or its operator, says of a field: the only words, or the key that differs between the items of
// a list. "*" in a path stands for every item of a list.
type allowed struct {
	path  string
	words []string
	key   string
}

const multiKueue = "kueue.x-k8s.io/multikueue"

// allowedOf returns what a kind allows. Sources: the definitions of JobSet v0.12, MPI operator v0.8, KubeRay v1.6, Kubeflow
// Trainer v2.2 and LeaderWorkerSet v0.9; pkg/common/util/webhooks.go of training-operator v1.9; pkg/apis/kubeflow/validation of
// mpi-operator v0.8.
func allowedOf(k kinds.Job) []allowed {
	switch k.FullName() {
	case kinds.JobSet.FullName():
		return []allowed{
			{path: "spec.replicatedJobs", key: "name"},
			{path: "spec.replicatedJobs.*.dependsOn", key: "name"},
			{path: "spec.replicatedJobs.*.dependsOn.*.status", words: []string{"Ready", "Complete"}},
			{path: "spec.successPolicy.operator", words: []string{"All", "Any"}},
			{path: "spec.startupPolicy.startupPolicyOrder", words: []string{"AnyOrder", "InOrder"}},
			{path: "spec.failurePolicy.restartStrategy", words: []string{"Recreate", "BlockingRecreate", "InPlaceRestart"}},
			{path: "spec.failurePolicy.rules.*.action", words: []string{"FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts", "RestartJob", "RestartJobAndIgnoreMaxRestarts"}},
			{path: "spec.volumeClaimPolicies.*.retentionPolicy.whenDeleted", words: []string{"Delete", "Retain"}},
		}
	case kinds.MPIJob.FullName():
		return []allowed{
			{path: "spec.mpiImplementation", words: []string{"OpenMPI", "Intel", "MPICH"}},
			{path: "spec.runPolicy.cleanPodPolicy", words: []string{"None", "Running", "All"}},
			{path: "spec.runPolicy.managedBy", words: []string{"kubeflow.org/mpi-operator", multiKueue}},
		}
	case kinds.PyTorchJob.FullName(), kinds.TFJob.FullName(), kinds.XGBoostJob.FullName(), kinds.PaddleJob.FullName(), kinds.JAXJob.FullName():
		return []allowed{{path: "spec.runPolicy.managedBy", words: []string{"kubeflow.org/training-operator", multiKueue}}}
	case kinds.RayJob.FullName():
		deletes := []string{"DeleteCluster", "DeleteWorkers", "DeleteSelf", "DeleteNone"}
		return append(rayAllows("spec.rayClusterSpec"),
			allowed{path: "spec.managedBy", words: rayManagers()},
			allowed{path: "spec.deletionStrategy.onSuccess.policy", words: deletes},
			allowed{path: "spec.deletionStrategy.onFailure.policy", words: deletes},
			allowed{path: "spec.deletionStrategy.deletionRules.*.policy", words: deletes},
			allowed{path: "spec.deletionStrategy.deletionRules.*.condition.jobStatus", words: []string{"SUCCEEDED", "FAILED"}})
	case kinds.RayCluster.FullName():
		return append(rayAllows("spec"), allowed{path: "spec.managedBy", words: rayManagers()})
	case kinds.RayService.FullName():
		return append(rayAllows("spec.rayClusterConfig"), allowed{path: "spec.managedBy", words: rayManagers()})
	case kinds.TrainJob.FullName():
		return []allowed{{path: "spec.trainer.env", key: "name"}, {path: "spec.runtimePatches", key: "manager"}}
	case kinds.LeaderWorkerSet.FullName():
		return []allowed{
			{path: "spec.leaderWorkerTemplate.restartPolicy", words: []string{"Default", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"}},
			{path: "spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType", words: []string{"LeaderWorker", "LeaderExcluded"}},
			{path: "spec.networkConfig.subdomainPolicy", words: []string{"Shared", "UniquePerReplica"}},
			{path: "spec.rolloutStrategy.type", words: []string{"RollingUpdate"}},
			{path: "spec.startupPolicy", words: []string{"LeaderCreated", "LeaderReady"}},
		}
	}
	return nil
}

func rayManagers() []string { return []string{"ray.io/kuberay-operator", multiKueue} }

// rayAllows returns what the description of a Ray cluster allows.
func rayAllows(at string) []allowed {
	return []allowed{
		{path: at + ".authOptions.mode", words: []string{"disabled", "token"}},
		{path: at + ".autoscalerOptions.upscalingMode", words: []string{"Default", "Aggressive", "Conservative"}},
		{path: at + ".autoscalerOptions.version", words: []string{"v1", "v2"}},
		{path: at + ".upgradeStrategy.type", words: []string{"Recreate", "None"}},
	}
}

// checkAllowed validates words and the names in lists by the definition of the job's kind. Other versions of the kind can have
// other words.
func (f *Faults) checkAllowed(k kinds.Job, o map[string]any) {
	if manifest.TextOf(o["apiVersion"]) != k.GroupVersion() {
		return
	}
	for _, rule := range allowedOf(k) {
		f.checkRule(rule, "", o, strings.Split(rule.path, "."))
	}
}

func (f *Faults) checkRule(rule allowed, at string, v any, rest []string) {
	list, _ := v.([]any)
	switch m, _ := v.(map[string]any); {
	case len(rest) == 0 && rule.key != "":
		f.checkNames(at, list, rule.key)
	case len(rest) == 0:
		text, isText := v.(string)
		if isText && !manifest.Unfilled(text) && !slices.Contains(rule.words, text) {
			f.add(at, errs.Usagef("%s is %s: must be %s%s", at, manifest.QuoteText(text), manifest.OrList(rule.words), manifest.DidYouMean(errs.Near(text, rule.words))))
		}
	case rest[0] == "*":
		for i, item := range list {
			f.checkRule(rule, manifest.Location{Path: at}.Item(i).Path, item, rest[1:])
		}
	case m[rest[0]] != nil:
		f.checkRule(rule, manifest.JoinPath(at, rest[0]), m[rest[0]], rest[1:])
	}
}

// checkNames refuses items of a list with the same name.
func (f *Faults) checkNames(at string, list []any, key string) {
	seen := map[string]bool{}
	for i, item := range list {
		m, _ := item.(map[string]any)
		name := manifest.TextOf(m[key])
		path := manifest.JoinPath(manifest.Location{Path: at}.Item(i).Path, key)
		if seen[name] && name != "" && !manifest.Unfilled(name) {
			f.add(path, errs.Usagef("%s is %s: this %s is given twice", path, manifest.QuoteText(name), key))
		}
		seen[name] = true
	}
}
