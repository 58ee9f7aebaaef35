package inputs

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// The codes of a Note.
const (
	// ConfigurationUnknown: Kueue's defaults are assumed.
	ConfigurationUnknown = "ConfigurationUnknown"
	// VersionDiffers: the cluster's Kueue is not the one whose rules are followed.
	VersionDiffers = "VersionDiffers"
	// VersionUnknown: the cluster's Kueue is of a version that could not be read.
	VersionUnknown = "VersionUnknown"
	// NotModelled: something configured is not followed.
	NotModelled = "NotModelled"
	// Invalid: an object that cannot be right was left out.
	Invalid = "Invalid"
	// Assumed: something unreadable was made up.
	Assumed = "Assumed"
	// GateAssumed: a feature gate that is off by default is taken to be on.
	GateAssumed = "GateAssumed"
	// CPUNotCounted: Kueue does not count the CPU of some pods.
	CPUNotCounted = "CPUNotCounted"
	// Beside: other objects of the submission request quota, too, before the job.
	Beside = "Beside"
)

// Note is a reservation about every answer of an engine. Package present/notetext
// words it.
type Note struct {
	Code string
	// Message is a sentence, "" until present/notetext sets it.
	Message string

	// Differences are the known differences between the cluster's version and the rules
	// that can matter to the job, of VersionDiffers (codes of package versions). Nil: not
	// about one job.
	Differences []string `json:",omitempty"`

	// Settings are the settings of Kueue's configuration that could change the answer about one job, of ConfigurationUnknown.
	// Nil: not about one job.
	Settings []string `json:",omitempty"`

	// Manager is why the configuration is not known, of ConfigurationUnknown.
	Manager ManagerState `json:"-"`
	// Version is the cluster's, of VersionDiffers.
	Version string `json:"-"`
	// Warning is what the engine does not follow, of NotModelled.
	Warning *admission.Warning `json:"-"`
	// RuntimeClasses, of NotModelled: the overhead of runtime classes is not counted.
	RuntimeClasses bool `json:"-"`
	// Err is why an object was left out, of Invalid.
	Err error `json:"-"`
	// Assumption is what was made up, of Assumed.
	Assumption *Assumption `json:"-"`
	// Gate is the feature gate, and Kind the kind that Kueue governs with it, of GateAssumed.
	Gate, Kind string `json:"-"`
	// Names are the objects ("Deployment redis") that come before the job, of Beside.
	Names []string `json:"-"`
	// Unseen is the field that Kueue does not count, and Counted the one that it does, of CPUNotCounted.
	Unseen, Counted string `json:"-"`
	// Unread is why nodes could not be read, a reason of package state, of explain.NodesUnread.
	Unread string `json:"-"`
}

// Assumption is something made up in place of an object that could not be read.
type Assumption struct {
	// Queue is a LocalQueue ("namespace/name") taken to use ClusterQueue, because its
	// workloads were admitted there (Seen) or by the names of task governance. An empty
	// Queue stands for workloads that hold quota of ClusterQueue.
	Queue        string
	ClusterQueue string
	Seen         bool
	// Unread is why the LocalQueue or the workloads could not be read: the Reason of a
	// state.Missing.
	Unread string
}

// Rules are how the cluster's Kueue decides, as far as that is known.
type Rules struct {
	Config admission.Config
	// Known is false when Kueue's defaults stand in for an unreadable configuration.
	Known bool
	// FairSharing is Config.FairSharing, for readers of the value alone.
	FairSharing bool
	// ManagesAll: Kueue also suspends jobs without a queue
	// (manageJobsWithoutQueueName).
	ManagesAll bool
	// managed selects the namespaces for which ManagesAll holds; nil: all
	// (managedJobsNamespaceSelector).
	managed *metav1.LabelSelector
	// frameworks are Kueue's integrations (integrations.frameworks), nil where the configuration names none.
	frameworks []string
	Notes      []Note
}

// Rules reads Kueue's configuration.
func (in *Inputs) Rules() Rules {
	r := Rules{}
	now := in.Taken
	note := func(n Note) { r.Notes = append(r.Notes, n) }
	if in.Manager.Data != "" {
		cfg, err := admission.ConfigFrom([]byte(in.Manager.Data))
		if err != nil {
			note(Note{Code: ConfigurationUnknown, Manager: ManagerInvalid})
		} else {
			r.Config, r.Known = cfg, true
			r.Config.SetGates(in.Manager.Gates)
			var more struct {
				ManageJobsWithoutQueueName   bool                  `json:"manageJobsWithoutQueueName"`
				ManagedJobsNamespaceSelector *metav1.LabelSelector `json:"managedJobsNamespaceSelector"`
				Integrations                 struct {
					Frameworks []string `json:"frameworks"`
				} `json:"integrations"`
			}
			r.ManagesAll = yaml.Unmarshal([]byte(in.Manager.Data), &more) == nil && more.ManageJobsWithoutQueueName
			r.managed, r.frameworks = more.ManagedJobsNamespaceSelector, more.Integrations.Frameworks
		}
	} else {
		note(Note{Code: ConfigurationUnknown, Manager: in.Manager.State})
	}
	switch {
	case in.KueueVersion == "" && in.Manager.Data != "":
		note(Note{Code: VersionUnknown})
	case in.KueueVersion != "" && in.KueueVersion != versions.BuiltIn:
		note(Note{Code: VersionDiffers, Version: in.KueueVersion})
	}
	if !r.Known {
		r.Config.SetGates(in.Manager.Gates)
	}
	r.Config.Unread = in.unreadDevices
	r.Config.Now = func() time.Time { return now }
	r.FairSharing = r.Config.FairSharing
	return r
}

// Manages reports whether Kueue suspends jobs without a queue in a namespace.
func (r *Rules) Manages(in *Inputs, namespace string) bool {
	if !r.ManagesAll || r.managed == nil {
		return r.ManagesAll
	}
	of := labels.Set{corev1.LabelMetadataName: namespace}
	for _, n := range in.Namespaces {
		if n.Name == namespace {
			of = labels.Set(n.Labels)
		}
	}
	s, err := metav1.LabelSelectorAsSelector(r.managed)
	return err != nil || s.Matches(of)
}

// Governs reports whether Kueue governs a kind of jobs, as far as its configuration says: it names the
// integrations, and it can turn the kind's feature gate off. gate reports that a feature gate decides, which is off by
// default: it is off, or has to be on and nothing turns it on. (A Kueue whose integrations include the kind has its
// gate on: it does not start otherwise.)
func (r *Rules) Governs(k kinds.Job) (governs, gate bool) {
	on, set := r.Config.Gates[k.Gate]
	switch {
	case k.Gate != "" && set && !on:
		return false, true
	case len(r.frameworks) > 0:
		return k.Governs(r.frameworks), false
	}
	return true, k.Gate != "" && !on
}

// RulesError is about a configuration of Kueue that no engine can have.
type RulesError struct{ Err error }

// Error returns the cause, for logs.
func (e *RulesError) Error() string { return "Kueue's configuration: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *RulesError) Unwrap() error { return e.Err }

// UnknownOverhead reports a workload with pods of a runtime class that could not be read: the overhead that it adds
// to each pod is not counted.
func (in *Inputs) UnknownOverhead(w *kueue.Workload) bool {
	return slices.ContainsFunc(w.Spec.PodSets, func(ps kueue.PodSet) bool {
		name := ps.Template.Spec.RuntimeClassName
		return name != nil && len(ps.Template.Spec.Overhead) == 0 &&
			!slices.ContainsFunc(in.RuntimeClasses, func(c *nodev1.RuntimeClass) bool { return c.Name == *name })
	})
}

// Engine makes an admission engine that has loaded everything, with the notes on
// what it cannot know or follow. Objects that cannot be right are left out and
// noted; a [RulesError] is the only error.
func (in *Inputs) Engine(ctx context.Context) (*admission.Engine, []Note, error) {
	r := in.Rules()
	e, err := admission.New(r.Config)
	if err != nil {
		return nil, nil, &RulesError{err}
	}
	notes := r.Notes
	if err := e.Load(ctx, in.Objects()...); err != nil {
		for _, one := range admission.Problems(err) {
			notes = append(notes, Note{Code: Invalid, Err: one})
		}
	}
	for _, w := range e.Warnings() {
		notes = append(notes, Note{Code: NotModelled, Warning: &w})
	}
	if slices.ContainsFunc(in.Workloads, in.UnknownOverhead) {
		notes = append(notes, Note{Code: NotModelled, RuntimeClasses: true})
	}
	for i := range in.Assumed {
		notes = append(notes, Note{Code: Assumed, Assumption: &in.Assumed[i]})
	}
	return e, notes, nil
}
