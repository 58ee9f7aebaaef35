// Package pseudonym replaces the names in a snapshot: teams, users, jobs, nodes, queues,
// cohorts, labels, images and names of environment variables. A name has the same pseudonym
// wherever it occurs, and pseudonyms sort as the names do, so that whatever is computed from
// the snapshot comes out the same. The names of resources, instance types and the fields of
// the API stay.
package pseudonym

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// Names are the pseudonyms of one snapshot.
type Names struct {
	of map[string]string // by name
	// used counts the pseudonyms of each category.
	used map[string]int
	// resources are the names of resources, which stay.
	resources map[string]bool
}

// The categories of names; they are the first word of a pseudonym.
const (
	team      = "team"
	namespace = "namespace"
	queue     = "queue"
	cohort    = "cohort"
	flavor    = "flavor"
	class     = "class"
	job       = "job"
	node      = "node"
	domain    = "domain" // of a topology: a rack, a block
	user      = "user"
	image     = "image"
	variable  = "VARIABLE"
	label     = "label"
	other     = "name"
)

// separator is between the category and the number of a pseudonym.
func separator(category string) string {
	if category == variable {
		return "_"
	}
	return "-"
}

// register gives names of a category their pseudonyms, in the order of the names.
func (n *Names) register(category string, names map[string]bool) {
	sorted := slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(s string) bool { return n.of[s] != "" || n.keeps(s) })
	width := len(fmt.Sprint(len(sorted)))
	for _, s := range sorted {
		n.used[category]++
		n.of[s] = fmt.Sprintf("%s%s%0*d", category, separator(category), width, n.used[category])
		if category == class && strings.HasSuffix(s, prioritySuffix) {
			n.of[s] += prioritySuffix
		}
	}
}

// name returns the pseudonym of a name that was not registered; it gets one now.
func (n *Names) add(category, s string) string {
	if n.of[s] == "" {
		n.used[category]++
		n.of[s] = fmt.Sprintf("%s%s%d", category, separator(category), n.used[category])
	}
	return n.of[s]
}

// prioritySuffix ends the names of the priority classes of task governance; people leave it
// out.
const prioritySuffix = "-priority"

// managedPrefix begins the names that task governance gives to what belongs to a team.
const managedPrefix = "hyperpod-ns-"

// managedSuffixes end them.
var managedSuffixes = []string{"-clusterqueue", "-localqueue"}

// teamIn returns the team in a name of task governance; before and after are the rest.
func teamIn(s string) (before, team, after string, ok bool) {
	rest, ok := strings.CutPrefix(s, managedPrefix)
	if !ok || rest == "" || strings.HasPrefix(rest, "idle-resource-sharing") {
		return "", "", "", false
	}
	for _, suffix := range managedSuffixes {
		if t, ok := strings.CutSuffix(rest, suffix); ok && t != "" {
			return managedPrefix, t, suffix, true
		}
	}
	return managedPrefix, rest, "", true
}

// dedicated begins the name of the cohort of a team that does not lend.
const dedicated = "dedicated-pool-"

var (
	uuid = pattern.Lazy(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	// number is a number, a quantity, a duration or a time.
	number = pattern.Lazy(`^[0-9][0-9.,:]*(m|k|[KMGTPE]i?|s|h|d|%)?([0-9.]+(m?s|m))*(-[0-9]{2}-[0-9]{2}(T[0-9:.]+Z?)?)?$`)
	// term is a word of an API: LowerPriority, BestEffortFIFO, OnFailure.
	term         = pattern.Lazy(`^[A-Z][A-Za-z0-9]*$`)
	instanceType = pattern.Lazy(`^ml\.[a-z0-9-]+\.[a-z0-9-]+$`)
	// hash is what operators and Kueue put at the end of a generated name.
	hash = pattern.Lazy(`^([0-9]+|[0-9a-f]{5,10}|[bcdfghjklmnpqrstvwxz2456789]{5,10})$`)
)

// publicDomains end the prefixes of labels, resources and finalizers that are not the
// user's own.
var publicDomains = []string{"kubernetes.io", "k8s.io", "amazonaws.com", "aws.amazon.com", "k8s.aws", "kubeflow.org", "ray.io", "nvidia.com", "amd.com", "karpenter.sh",
	"cli.hyperpod", "sagemaker.user"}

// publicWords are lower-case values and names that everyone uses.
var publicWords = map[string]bool{}

func init() {
	for _, s := range strings.Fields(`true false yes no none headgroup default default-scheduler kube-system kube-public kube-node-lease kubeflow kueue-system
		kueue-manager-config kueue-controller-manager system-cluster-critical system-node-critical
		master worker launcher head driver main ps chief evaluator submitter pytorch mpi tensorflow xgboost paddle jax
		ray-head ray-worker pytorchjob-port tfjob-port xgboostjob-port mpijob amd64 arm64 linux windows hyperpod
		cpu memory ephemeral-storage pods hugepages-2Mi hugepages-1Gi
		v1 v1beta1 v1beta2 v1alpha1 v1alpha2 all any shared-pool hyperpod-default`) {
		publicWords[s] = true
	}
}

// keeps reports a string that is nobody's name.
func (n *Names) keeps(s string) bool {
	return s == "" || publicWords[s] || n.resources[s] || uuid().MatchString(s) || number().MatchString(s) || instanceType().MatchString(s) || public(s)
}

// public reports a name with the prefix of a known domain: kueue.x-k8s.io/queue-name.
func public(s string) bool {
	host, _, _ := strings.Cut(s, "/")
	for _, d := range publicDomains {
		if host == d || strings.HasSuffix(host, "."+d) || strings.HasSuffix(host, "-"+d) {
			return true
		}
	}
	return false
}

// Name returns the pseudonym of the name of an object.
func (n *Names) Name(s string) string { return n.named(other, s) }

// named is Name for a category, which a name without a pseudonym gets.
func (n *Names) named(category, s string) string {
	if n.of[s] == "" && n.keeps(s) {
		return s
	}
	if p, ok := n.derived(s); ok {
		return p
	}
	return n.add(category, s)
}

// derived returns the pseudonym of a name that has one, or is made of names that have:
// hyperpod-ns-TEAM-localqueue, JOB-worker-0, pytorchjob-JOB-1a2b3.
func (n *Names) derived(s string) (string, bool) {
	if p := n.of[s]; p != "" {
		return p, true
	}
	if before, t, after, ok := teamIn(s); ok {
		return before + n.add(team, t) + after, true
	}
	if t, ok := strings.CutPrefix(s, dedicated); ok && n.of[t] != "" {
		return dedicated + n.of[t], true
	}
	parts := strings.Split(s, "-")
	for length := len(parts); length > 0; length-- { // the longest name first
		for from := 0; from+length <= len(parts); from++ {
			p := n.of[strings.Join(parts[from:from+length], "-")]
			if p != "" && generated(parts[:from], true) && generated(parts[from+length:], false) {
				return strings.Join(slices.Concat(parts[:from], []string{p}, parts[from+length:]), "-"), true
			}
		}
	}
	return "", false
}

// generated reports parts of a name that a controller made: before a job's name its kind,
// after it roles, numbers and hashes.
func generated(parts []string, before bool) bool {
	return !slices.ContainsFunc(parts, func(p string) bool {
		if before {
			return !jobPrefixes[p]
		}
		return !publicWords[p] && !hash().MatchString(p) && p != "raycluster"
	})
}

// jobPrefixes begin the names of Workloads.
var jobPrefixes = map[string]bool{}

func init() {
	for _, s := range strings.Fields("job pytorchjob mpijob tfjob xgboostjob paddlejob jaxjob jobset rayjob raycluster hyperpodpytorchjob trainjob pod deployment statefulset leaderworkerset appwrapper spark sparkapplication rayservice pod-group") {
		jobPrefixes[s] = true
	}
}

// Key returns the pseudonym of the key of a label.
func (n *Names) Key(s string) string {
	if n.keeps(s) {
		return s
	}
	return n.add(label, s)
}
