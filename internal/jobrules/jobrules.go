// Package jobrules holds the rules for objects of job kinds: those of their CustomResourceDefinitions, of the webhooks of their
// operators, and of the operators themselves. They are for the check of manifests before anything is sent, and for the
// sandbox's API server. The API server's rules for pods are in package podrules, those of Kueue's webhooks in
// governance/admission.
package jobrules

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/podrules"
)

// Fault is a value that is refused. Its path leads from the object.
type Fault = podrules.Fault

// kindRules are the rules of a kind besides its definition in definitions.json.
type kindRules struct {
	// schema is the definition of a kind whose operator is not a Go module.
	schema *schema
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
// webhook. open reports a text that still has placeholders, which is not checked; nil stands for never. Other versions of the
// kind than k's are not checked.
func ServerFaults(k kinds.Job, object map[string]any, open func(string) bool) []Fault {
	c, own := newChecker(k, object, open), rulesOf(k)
	if c == nil {
		return nil
	}
	s := own.schema
	if d := loaded().Kinds[k.FullName()]; d != nil {
		s = d.Schema
	}
	c.schema(s, nil, object)
	if own.webhook != nil {
		own.webhook(c)
	}
	return c.found
}

// OperatorFaults returns the faults for which the operator does not run a job that the API server accepts. open is as in [ServerFaults].
func OperatorFaults(k kinds.Job, object map[string]any, open func(string) bool) []Fault {
	c, own := newChecker(k, object, open), rulesOf(k)
	if c == nil || own.operator == nil {
		return nil
	}
	own.operator(c)
	return c.found
}

// ChecksNames reports whether the rules of a kind limit the length of its names. The names of other kinds are limited by those of
// their pods.
func ChecksNames(k kinds.Job) bool {
	return slices.ContainsFunc([]kinds.Job{kinds.JobSet, kinds.RayCluster, kinds.RayJob, kinds.RayService}, func(o kinds.Job) bool { return o.FullName() == k.FullName() })
}

type checker struct {
	object map[string]any
	spec   map[string]any
	open   func(string) bool
	found  []Fault
}

func newChecker(k kinds.Job, object map[string]any, open func(string) bool) *checker {
	if kinds.Text(object, "apiVersion") != k.GroupVersion() {
		return nil
	}
	if open == nil {
		open = func(string) bool { return false }
	}
	return &checker{object: object, spec: inner(object, "spec"), open: open}
}

// at is a place in the object.
type at []any

func (p at) to(steps ...any) at { return append(slices.Clone(p), steps...) }

func spec(steps ...any) at { return append(at{"spec"}, steps...) }

func (c *checker) add(p at, kind field.ErrorType, value any, detail string, allowed ...string) {
	c.found = append(c.found, Fault{Path: p, Type: kind, Value: value, Allowed: allowed, Detail: detail})
}

func (c *checker) required(p at, detail string) {
	c.add(p, field.ErrorTypeRequired, nil, detail)
}

func (c *checker) invalid(p at, value any, details ...string) {
	for _, d := range details {
		c.add(p, field.ErrorTypeInvalid, value, d)
	}
}

func (c *checker) forbidden(p at, detail string) {
	c.add(p, field.ErrorTypeForbidden, nil, detail)
}

// text returns the text under a key; ok is false if it is absent, empty, of another type, or has placeholders.
func (c *checker) text(m map[string]any, key string) (s string, ok bool) {
	s, _ = m[key].(string)
	return s, s != "" && !c.open(s)
}

// oneOf reports a text that is not one of those allowed.
func (c *checker) oneOf(p at, m map[string]any, key string, allowed ...string) {
	if s, ok := c.text(m, key); ok && !slices.Contains(allowed, s) {
		c.add(p.to(key), field.ErrorTypeNotSupported, s, "", allowed...)
	}
}

// notNegative reports numbers below zero.
func (c *checker) notNegative(p at, m map[string]any, keys ...string) {
	for _, key := range keys {
		if n, ok := number(m[key]); ok && n < 0 {
			c.invalid(p.to(key), n, "must be greater than or equal to 0")
		}
	}
}

// positive reports numbers below one.
func (c *checker) positive(p at, m map[string]any, keys ...string) {
	for _, key := range keys {
		if n, ok := number(m[key]); ok && n < 1 {
			c.invalid(p.to(key), n, "must be greater than or equal to 1")
		}
	}
}

// named reports a name of the object that is not a DNS-1035 label, or has more characters than limit. Without a limit, 63 are allowed.
func (c *checker) named(limit int) {
	name, ok := c.name()
	switch {
	case !ok:
	case limit > 0 && len(name) > limit:
		c.invalid(at{"metadata", "name"}, name, "must have at most "+strconv.Itoa(limit)+" characters")
	default:
		c.invalid(at{"metadata", "name"}, name, validation.IsDNS1035Label(name)...)
	}
}

// name returns the object's name; ok is false for one that is not known yet.
func (c *checker) name() (name string, ok bool) {
	return c.text(inner(c.object, "metadata"), "name")
}

// inner returns the map at a path, nil if there is none.
func inner(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		m, _ = m[k].(map[string]any)
	}
	return m
}

func list(v any) []any {
	items, _ := v.([]any)
	return items
}

// each calls f for the maps of a list.
func each(v any, f func(int, map[string]any)) {
	for i, item := range list(v) {
		if m, ok := item.(map[string]any); ok {
			f(i, m)
		}
	}
}

func number(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case float64:
		return int64(n), n == float64(int64(n))
	}
	return 0, false
}

// numberOr returns a number, and the default of an absent one; ok is false for one that is not known.
func numberOr(v any, otherwise int64) (n int64, ok bool) {
	if v == nil {
		return otherwise, true
	}
	return number(v)
}

// isTrue reports a value that is known to be true.
func isTrue(v any) bool { return v == true }
