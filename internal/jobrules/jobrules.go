// Package jobrules holds the rules for objects of job kinds: those of their CustomResourceDefinitions, of the webhooks of their
// operators, and of the operators themselves. They are for the check of manifests before anything is sent, and for the
// sandbox's API server. The API server's rules for pods are in package podrules, those of Kueue's webhooks in
// governance/admission.
package jobrules

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/structural"
)

// Fault is a value that is refused. Its path leads from the object.
type Fault = faults.Fault

// kindRules are the rules of a kind besides its definition in definitions.json.
type kindRules struct {
	// schema is the definition of a kind whose operator is not a Go module.
	schema *structural.Schema
	// webhook is what the operator's webhook refuses, and operator what the operator itself does not run, nil for nothing.
	webhook, operator func(*checker)
}

func rulesOf(k kinds.Job) kindRules {
	switch k.FullName() {
	case kinds.JobSet.FullName():
		return kindRules{webhook: jobSet}
	case kinds.PyTorchJob.FullName():
		return kindRules{webhook: pyTorchJob}
	case kinds.TFJob.FullName():
		return kindRules{webhook: tfJob}
	case kinds.XGBoostJob.FullName():
		return kindRules{webhook: xgboostJob}
	case kinds.PaddleJob.FullName():
		return kindRules{webhook: training("paddleReplicaSpecs", "paddle", "Master", "Worker")}
	case kinds.JAXJob.FullName():
		return kindRules{webhook: training("jaxReplicaSpecs", "jax", "Worker")}
	case kinds.MPIJob.FullName():
		return kindRules{operator: mpiJob}
	case kinds.RayCluster.FullName():
		return kindRules{webhook: rayStorage(), operator: rayCluster}
	case kinds.RayJob.FullName():
		return kindRules{webhook: rayStorage("rayClusterSpec"), operator: rayJob}
	case kinds.RayService.FullName():
		return kindRules{webhook: rayStorage("rayClusterConfig"), operator: rayService}
	case kinds.TrainJob.FullName():
		return kindRules{webhook: trainJob}
	case kinds.LeaderWorkerSet.FullName():
		return kindRules{webhook: leaderWorkerSet}
	case kinds.SparkApplication.FullName():
		return kindRules{webhook: sparkApplication}
	case kinds.AppWrapper.FullName():
		return kindRules{operator: appWrapper}
	case kinds.Notebook.FullName():
		return kindRules{schema: notebook()}
	case kinds.Workspace.FullName():
		return kindRules{schema: workspace()}
	case kinds.HyperPodPyTorchJob.FullName():
		return kindRules{schema: hyperPodPyTorchJob()}
	case kinds.InferenceEndpointConfig.FullName():
		return kindRules{schema: inferenceEndpointConfig()}
	case kinds.JumpStartModel.FullName():
		return kindRules{schema: jumpStartModel()}
	}
	return kindRules{}
}

// ServerFaults returns the faults for which the API server refuses a new object: those of the kind's definition and of its operator's
// webhook. open reports a text that still has placeholders, which is not checked; nil stands for never. Of other versions than k's,
// only Ray's v1alpha1 is checked, which has no webhook.
func ServerFaults(k kinds.Job, object map[string]any, open func(string) bool) []Fault {
	c, own := newChecker(k, object, open), rulesOf(k)
	if c == nil {
		return formerFaults(k, object, open)
	}
	s := own.schema
	if d := loaded().Kinds[k.FullName()]; d != nil {
		s = d.Schema
	}
	c.schema(s)
	if own.webhook != nil {
		own.webhook(c)
	}
	return c.Found
}

// formerFaults returns the faults of an object of another version of a kind by its definition, nil if there is none.
func formerFaults(k kinds.Job, object map[string]any, open func(string) bool) []Fault {
	_, version, _ := strings.Cut(kinds.Text(object, "apiVersion"), "/")
	d := loaded().Kinds[k.FullName()+"/"+version]
	if d == nil {
		return nil
	}
	c := checkerOf(object, open)
	c.schema(d.Schema)
	return c.Found
}

// OperatorFaults returns the faults for which the operator does not run a job that the API server accepts. open is as in [ServerFaults].
// It checks Ray's v1alpha1 too, which has the fields of v1.
func OperatorFaults(k kinds.Job, object map[string]any, open func(string) bool) []Fault {
	c, own := newChecker(k, object, open), rulesOf(k)
	if k.Group == kinds.RayCluster.Group && kinds.Text(object, "apiVersion") == k.Group+"/v1alpha1" { // KubeRay reads it as v1
		c = checkerOf(object, open)
	}
	if c == nil || own.operator == nil {
		return nil
	}
	own.operator(c)
	return c.Found
}

// ChecksNames reports whether the rules of a kind limit the length of its names. The names of other kinds are limited by those of
// their pods.
func ChecksNames(k kinds.Job) bool {
	return slices.ContainsFunc([]kinds.Job{kinds.JobSet, kinds.RayCluster, kinds.RayJob, kinds.RayService}, func(o kinds.Job) bool { return o.FullName() == k.FullName() })
}

// checker collects the faults of an object.
type checker struct {
	faults.List
	object map[string]any
	spec   map[string]any
}

func newChecker(k kinds.Job, object map[string]any, open func(string) bool) *checker {
	if kinds.Text(object, "apiVersion") != k.GroupVersion() {
		return nil
	}
	return checkerOf(object, open)
}

func checkerOf(object map[string]any, open func(string) bool) *checker {
	return &checker{List: faults.NewList(open), object: object, spec: faults.Inner(object, "spec")}
}

// at is a place in the object.
type at = faults.Path

func spec(steps ...any) at { return append(at{"spec"}, steps...) }

// text returns the text under a key; ok is false if it is absent, empty, of another type, or has placeholders.
func (c *checker) text(m map[string]any, key string) (s string, ok bool) {
	s, _ = m[key].(string)
	return s, s != "" && !c.Open(s)
}

// notNegative reports numbers below zero.
func (c *checker) notNegative(p at, m map[string]any, keys ...string) {
	for _, key := range keys {
		if n, ok := faults.Number(m[key]); ok && n < 0 {
			c.Invalid(p.To(key), n, "must be greater than or equal to 0")
		}
	}
}

// positive reports numbers below one.
func (c *checker) positive(p at, m map[string]any, keys ...string) {
	for _, key := range keys {
		if n, ok := faults.Number(m[key]); ok && n < 1 {
			c.Invalid(p.To(key), n, "must be greater than or equal to 1")
		}
	}
}

// named reports a name of the object that is not a DNS-1035 label, or has more characters than limit. Without a limit, 63 are allowed.
func (c *checker) named(limit int) {
	name, ok := c.name()
	switch {
	case !ok:
	case limit > 0 && len(name) > limit:
		c.Invalid(at{"metadata", "name"}, name, "must have at most "+strconv.Itoa(limit)+" characters")
	default:
		c.Invalid(at{"metadata", "name"}, name, validation.IsDNS1035Label(name)...)
	}
}

// name returns the object's name; ok is false for one that is not known yet.
func (c *checker) name() (name string, ok bool) {
	return c.text(faults.Inner(c.object, "metadata"), "name")
}

func list(v any) []any {
	items, _ := v.([]any)
	return items
}

// numberOr returns a number, and the default of an absent one; ok is false for one that is not known.
func numberOr(v any, otherwise int64) (n int64, ok bool) {
	if v == nil {
		return otherwise, true
	}
	return faults.Number(v)
}

// isTrue reports a value that is known to be true.
func isTrue(v any) bool { return v == true }
