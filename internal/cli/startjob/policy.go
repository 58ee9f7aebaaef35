package startjob

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Policy are the flags that say where a job's pods go, how long they may run and
// how many there may be. Fields are the flags of the same name.
type Policy struct {
	SecretEnv                 []string // --environment-from-secret
	ResultsDir                string
	RdzvBackend, RdzvEndpoint string
	Tolerations, NodeSelector []string // --toleration, --node-selector
	PreferredTopology         string
	RequiredTopology          string
	CleanPodPolicy            string
	TTL, Deadline             string // --ttl-after-finished, --active-deadline
	Backoff                   int    // --backoff-limit
	MinNodes, MaxNodes        int    // --min-node-count, --max-node-count
	Step                      int    // --elastic-replica-increment-step
	Sizes                     []int  // --elastic-replica-discrete-values
	Scaling, Shutdown, Snooze int    // --elastic-...-in-seconds
	AcceleratorsLimit         int
	EFALimit, PartitionLimit  int
}

func (o *Options) addPolicyFlags(fs *pflag.FlagSet) {
	p := &o.Policy
	fs.IntVar(&p.AcceleratorsLimit, "accelerators-limit", 0, "the same as --accelerators: devices are not overcommitted")
	fs.IntVar(&p.EFALimit, "efa-limit", 0, "the same as --efa")
	fs.IntVar(&p.PartitionLimit, "accelerator-partition-limit", 0, "the same as --accelerator-partition-count")
	for _, name := range []string{"accelerators-limit", "efa-limit", "accelerator-partition-limit"} {
		fs.Lookup(name).Hidden = true // of the official CLI v3, which asks for the number twice
	}
	fs.StringArrayVar(&p.SecretEnv, "environment-from-secret", nil, "NAME=SECRET:KEY, or SECRET for all of its keys, repeatable")
	fs.StringVar(&p.ResultsDir, "results-dir", "", "directory in the pods for checkpoints and results")
	fs.StringVar(&p.RdzvBackend, "rdzv-backend", "", "how nodes meet: c10d|etcd-v2|etcd|static (default: c10d; Trainium: static)")
	fs.StringVar(&p.RdzvEndpoint, "rdzv-endpoint", "", "where nodes meet, HOST:PORT (default: the first pod)")
	fs.StringArrayVar(&p.Tolerations, "toleration", nil, "taint that the pods tolerate, repeatable: KEY[=VALUE][:EFFECT[:SECONDS]]")
	fs.StringArrayVar(&p.NodeSelector, "node-selector", nil, "node label K=V that is required, repeatable")
	fs.StringVar(&p.PreferredTopology, "preferred-topology", "", "node label of the level within which pods should be placed")
	fs.StringVar(&p.RequiredTopology, "required-topology", "", "node label of the level within which pods have to be placed")
	fs.StringVar(&p.CleanPodPolicy, "clean-pod-policy", "", "pods to remove when the job ends: All|Running|None")
	fs.StringVar(&p.TTL, "ttl-after-finished", "", "remove the job this long after its end, e.g. 1h or 7d")
	fs.StringVar(&p.Deadline, "active-deadline", "", "fail the job when it runs longer, e.g. 2h")
	fs.IntVar(&p.Backoff, "backoff-limit", 0, "how many failures of pods the job survives")
	fs.IntVar(&p.MinNodes, "min-node-count", 0, "elastic job: smallest number of nodes (default: --node-count)")
	fs.IntVar(&p.MaxNodes, "max-node-count", 0, "elastic job: largest number of nodes (default: --node-count)")
	fs.IntVar(&p.Step, "elastic-replica-increment-step", 0, "HyperPodPyTorchJob: nodes are added in steps of this many")
	fs.IntSliceVar(&p.Sizes, "elastic-replica-discrete-values", nil, "HyperPodPyTorchJob: the numbers of nodes that are possible")
	fs.IntVar(&p.Scaling, "elastic-scaling-timeout-in-seconds", 0, "HyperPodPyTorchJob: how long a change of size may take")
	fs.IntVar(&p.Shutdown, "elastic-graceful-shutdown-timeout-in-seconds", 0, "HyperPodPyTorchJob: how long processes may take to stop")
	fs.IntVar(&p.Snooze, "elastic-scale-up-snooze-time-in-seconds", 0, "HyperPodPyTorchJob: how long to wait before growing again")
}

// oldNames are options of the official CLI v3 that have another name here.
var oldNames = map[string]string{
	"replica-count": "node-count", "max-replica-count": "max-node-count", "volume": "volumes", "env": "environment",
}

func understandOldNames(fs *pflag.FlagSet) {
	before := fs.GetNormalizeFunc()
	fs.SetNormalizeFunc(func(fs *pflag.FlagSet, name string) pflag.NormalizedName {
		if now, old := oldNames[name]; old {
			name = now
		}
		return before(fs, name)
	})
}

// layPolicy adds the flags to the values.
func (o *Options) layPolicy(v *values.Values) error {
	p := o.Policy
	v.ResultsDir = p.ResultsDir
	v.Rendezvous = values.Rendezvous{Backend: p.RdzvBackend, Endpoint: p.RdzvEndpoint}
	v.PreferredTopology, v.RequiredTopology = p.PreferredTopology, p.RequiredTopology
	v.RunPolicy.CleanPodPolicy = p.CleanPodPolicy
	v.RunPolicy.Backoff = o.given("backoff-limit", p.Backoff)
	v.Elastic = values.Elastic{
		Min: o.given("min-node-count", p.MinNodes), Max: o.given("max-node-count", p.MaxNodes),
		Step: o.given("elastic-replica-increment-step", p.Step), Sizes: p.Sizes,
		ScalingTimeout:  o.given("elastic-scaling-timeout-in-seconds", p.Scaling),
		ShutdownTimeout: o.given("elastic-graceful-shutdown-timeout-in-seconds", p.Shutdown),
		ScaleUpSnooze:   o.given("elastic-scale-up-snooze-time-in-seconds", p.Snooze),
	}
	for _, d := range []struct {
		flag, text string
		to         **int
	}{{"ttl-after-finished", p.TTL, &v.RunPolicy.TTL}, {"active-deadline", p.Deadline, &v.RunPolicy.Deadline}} {
		if d.text == "" {
			continue
		}
		n, err := values.ParseSeconds(d.flag, d.text)
		if err != nil {
			return err
		}
		*d.to = n
	}
	for _, text := range p.Tolerations {
		t, err := values.ParseToleration(text)
		if err != nil {
			return err
		}
		v.Tolerations = append(v.Tolerations, t)
	}
	for _, text := range p.SecretEnv {
		e, err := values.ParseSecretEnv(text)
		if err != nil {
			return err
		}
		v.SecretEnv = append(v.SecretEnv, e)
	}
	for _, l := range []struct {
		flag  string
		limit int
		to    **int
	}{{"accelerators", p.AcceleratorsLimit, &v.Accelerators}, {"efa", p.EFALimit, &v.EFA}, {"accelerator-partition", p.PartitionLimit, &v.PartitionCount}} {
		if err := o.sameLimit(l.flag, l.limit, l.to); err != nil {
			return err
		}
	}
	if err := o.layTasks(v); err != nil {
		return err
	}
	return o.layNodeSelector(v)
}

// sameLimit takes a limit for its request; two different numbers are a mistake.
func (o *Options) sameLimit(flag string, limit int, to **int) error {
	n := o.given(flag+"-limit", limit)
	switch {
	case n == nil:
	case *to != nil && **to != *n:
		return errs.Usagef("--%s-limit is %d and the request is %d, and devices are not overcommitted: give one number", flag, *n, **to).WithTry(fmt.Sprintf("--%s %d", flag, **to))
	default:
		*to = n
	}
	return nil
}

// layTasks reads --tasks-per-node: a number or a word.
func (o *Options) layTasks(v *values.Values) error {
	switch text := strings.ToLower(o.TasksPerNode); text {
	case "":
	case "auto", "cpu", "gpu":
		v.TasksBy = text
	default:
		n, err := strconv.Atoi(text)
		if err != nil {
			return errs.Usagef("--tasks-per-node wants a whole number, auto, gpu or cpu, not %q", o.TasksPerNode).WithTry("--tasks-per-node auto")
		}
		v.TasksPerNode = &n
	}
	return nil
}

// layNodeSelector adds --node-selector to what --label-selector requires.
func (o *Options) layNodeSelector(v *values.Values) error {
	for _, text := range o.Policy.NodeSelector {
		s, err := values.ParseSelector(text)
		if err != nil || strings.HasPrefix(strings.TrimSpace(text), "{") {
			return errs.Usagef("--node-selector %q is not understood: want K=V", text).WithTry("--node-selector KEY=VALUE", "--label-selector JSON")
		}
		for k, values := range s.Required {
			if have, twice := v.LabelSelector.Required[k]; twice && !slices.Equal(have, values) {
				return errs.Usagef("the node label %s is required to be %s and %s", k, strings.Join(have, " or "), strings.Join(values, " or "))
			}
			if v.LabelSelector.Required == nil {
				v.LabelSelector.Required = map[string][]string{}
			}
			v.LabelSelector.Required[k] = values
		}
	}
	return nil
}
