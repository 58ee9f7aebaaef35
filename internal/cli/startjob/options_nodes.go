package startjob

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// The values of --scheduler-type.
const (
	sageMaker   = "SageMaker"
	kueueQueue  = "Kueue"
	noScheduler = "None"
)

// Queueing holds the flags about queue and priority. Fields have the names of their flags.
type Queueing struct {
	SchedulerType, Queue, Priority string
}

// Title implements factory.OptionGroup.
func (*Queueing) Title() string { return "Queue and priority" }

// AddFlags implements factory.OptionGroup.
func (q *Queueing) AddFlags(cmd *cobra.Command) {
	types := []string{sageMaker, kueueQueue, noScheduler}
	factory.AddChoice(cmd, &q.SchedulerType, factory.Choice{Name: "scheduler-type", Words: types,
		Usage: "where the queue and the priority come from: " + strings.Join(types, "|") + " (default: depends on the namespace)"})
	cmd.Flags().StringVar(&q.Queue, "queue-name", "", "LocalQueue (default: the queue of the namespace)")
	cmd.Flags().StringVar(&q.Priority, "priority", "", "priority class, for example training or training-priority (default: the lowest)")
}

// Validate implements factory.OptionGroup.
func (q *Queueing) Validate() error {
	if q.SchedulerType == noScheduler && q.Queue != "" {
		return errs.Usagef("--queue-name cannot be used with --scheduler-type %s", noScheduler).WithAdvice("remove one of them")
	}
	return nil
}

// Nodes holds the flags about the nodes that a job may run on. Fields have the names of their flags.
type Nodes struct {
	LabelSelector                       string
	NodeSelector, Tolerations           []string // --node-selector, --toleration
	DeepHealthOnly                      *bool    // --deep-health-check-passed-nodes-only
	PreferredTopology, RequiredTopology string
}

// Title implements factory.OptionGroup.
func (*Nodes) Title() string { return "Nodes" }

// AddFlags implements factory.OptionGroup.
func (n *Nodes) AddFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&n.LabelSelector, "label-selector", "", "node label requirements: k=v,... or JSON (required, preferred, weights)")
	fs.StringArrayVar(&n.NodeSelector, "node-selector", nil, "required node label, K=V (repeatable)")
	fs.StringArrayVar(&n.Tolerations, "toleration", nil, "taint to tolerate (repeatable): KEY[=VALUE][:EFFECT[:SECONDS]]")
	factory.OptionalBool(fs, &n.DeepHealthOnly, "deep-health-check-passed-nodes-only", "use only nodes that passed the deep health check")
	fs.StringVar(&n.PreferredTopology, "preferred-topology", "", "topology level, a node label, within which Kueue places the pods if it can")
	fs.StringVar(&n.RequiredTopology, "required-topology", "", "topology level, a node label, within which Kueue must place the pods")
}

// Validate implements factory.OptionGroup.
func (n *Nodes) Validate() error { return nil }

func (n *Nodes) set(v *values.Values) (err error) {
	v.DeepHealthOnly = n.DeepHealthOnly != nil && *n.DeepHealthOnly
	v.PreferredTopology, v.RequiredTopology = n.PreferredTopology, n.RequiredTopology
	if n.LabelSelector != "" {
		if v.LabelSelector, err = values.ParseSelector(n.LabelSelector); err != nil {
			return err
		}
	}
	for _, text := range n.Tolerations {
		t, err := values.ParseToleration(text)
		if err != nil {
			return err
		}
		v.Tolerations = append(v.Tolerations, t)
	}
	if err := n.setNodeSelector(v); err != nil {
		return err
	}
	required := v.LabelSelector.Required
	if have, both := required[kinds.InstanceTypeLabel]; both && v.InstanceType != "" && !slices.Contains(have, instances.Full(v.InstanceType)) {
		return bothLabels(kinds.InstanceTypeLabel, have, []string{instances.Full(v.InstanceType)})
	}
	if have, both := required[kinds.DeepHealthLabel]; both && v.DeepHealthOnly && !slices.Contains(have, "Passed") {
		return bothLabels(kinds.DeepHealthLabel, have, []string{"Passed"})
	}
	return nil
}

// bothLabels returns the error of flags that require different values of a node label.
func bothLabels(key string, a, b []string) error {
	return errs.Usagef("the node label %s cannot be both %s and %s", key, strings.Join(a, " or "), strings.Join(b, " or "))
}

// setNodeSelector adds --node-selector to what --label-selector requires.
func (n *Nodes) setNodeSelector(v *values.Values) error {
	for _, text := range n.NodeSelector {
		s, err := values.ParseSelector(text)
		if err != nil || strings.HasPrefix(strings.TrimSpace(text), "{") {
			return factory.Invalid("node-selector", text, "must be K=V").Suggest(errs.Option("--node-selector", "KEY=VALUE"), errs.Option("--label-selector", "JSON"))
		}
		for k, wanted := range s.Required {
			if have, twice := v.LabelSelector.Required[k]; twice && !slices.Equal(have, wanted) {
				return bothLabels(k, have, wanted)
			}
			if v.LabelSelector.Required == nil {
				v.LabelSelector.Required = map[string][]string{}
			}
			v.LabelSelector.Required[k] = wanted
		}
	}
	return nil
}
