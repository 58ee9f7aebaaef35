package policy

import "slices"

import "sync"

// Level is the severity of a finding.
type Level string

// The levels. With an Error the service or Kueue refuses the document.
const (
	LevelError   Level = "Error"
	LevelWarning Level = "Warning"
	LevelNote    Level = "Note"
)

// Compare orders levels, errors first.
func (l Level) Compare(o Level) int {
	order := []Level{LevelError, LevelWarning, LevelNote}
	return slices.Index(order, l) - slices.Index(order, o)
}

// Rule is one row of the table of docs/governance-check.md.
type Rule struct {
	// Code is the level's letter and the rule's number. A number never changes its
	// meaning; rules from 41 on are this tool's own.
	Code  string
	Level Level
	// Title states the rule in a sentence.
	Title string
	// Source names the document that the rule comes from.
	Source string
}

// The codes.
const (
	OverCapacity    = "W001"
	BorrowIgnored   = "W002"
	NobodyToShare   = "N003"
	NoClasses       = "N009"
	WeightIgnored   = "W010"
	WeightZero      = "W011"
	SameNamespace   = "E014"
	BadPartition    = "E025"
	OutOfRange      = "E028"
	BadName         = "E029"
	Duplicate       = "E030"
	TooMany         = "E031"
	LargeBorrow     = "W028"
	UnknownInstance = "E041"
	UnitMissing     = "E042"
	UnitConflict    = "E043"
	TwiceDescribed  = "E044"
	BadSpec         = "E045"
	BorrowsNothing  = "W046"
	PartOfInstance  = "N047"
	Unreserved      = "N048"
	NobodyLends     = "W049"
	ClassInUse      = "E050"
	BelowUse        = "W051"
	BeingDeleted    = "E052"
	BadText         = "E061"
)

const (
	apiModel  = "SageMaker API: CreateComputeQuota, CreateClusterSchedulerConfig"
	guide     = "SageMaker Developer Guide, task governance: policies"
	kueueDocs = "Kueue: ClusterQueue"
)

// Rules returns every rule, ordered by number.
func Rules() []Rule {
	return []Rule{
		{OverCapacity, LevelWarning, "The quota of all teams should not exceed the capacity of the cluster.", guide},
		{BorrowIgnored, LevelWarning, "Borrowing limits have an effect only with the strategy LendAndBorrow.", guide},
		{NobodyToShare, LevelNote, "Lending and borrowing need at least two teams with the same instance type.", guide},
		{NoClasses, LevelNote, "Without priority classes, tasks rank first come, first served.", guide},
		{WeightIgnored, LevelWarning, "Fair-share weights have an effect only if fair share is enabled.", guide},
		{WeightZero, LevelWarning, "With fair share, a team of weight 0 is the first to lose what it borrows.", "Kueue: fair sharing"},
		{SameNamespace, LevelError, "A LocalQueue belongs to one team.", guide},
		{BadPartition, LevelError, "A MIG profile must exist on the instance type and cannot be combined with instances or accelerators.", "HyperPod CLI v3.9.0: accelerator partitions"},
		{OutOfRange, LevelError, "A number must be within the limits of the API.", apiModel},
		{LargeBorrow, LevelWarning, "Older versions of the API accept borrowing limits up to 500 %.", apiModel},
		{BadName, LevelError, "A name must have the form that the API accepts.", apiModel},
		{Duplicate, LevelError, "A team, an allocation, a priority class and an instance type of a team appear once.", apiModel},
		{TooMany, LevelError, "A policy has at most 10 priority classes, a team at most 15 instance types.", apiModel},
		{UnknownInstance, LevelError, "The instance type must be one that HyperPod offers.", "HyperPod CLI v3.9.0: instance types"},
		{UnitMissing, LevelError, "A quota names instances, accelerators, slices, vCPUs or memory, and the instance type has them.", apiModel},
		{UnitConflict, LevelError, "A number of instances cannot be combined with accelerators, slices, vCPUs or memory.", apiModel},
		{TwiceDescribed, LevelError, "Quota is described by rows or by kueue.spec.resourceGroups, not by both.", "this tool"},
		{BadSpec, LevelError, "The fields under kueue must be valid fields of Kueue's API.", kueueDocs},
		{BorrowsNothing, LevelWarning, "A percentage of a small quota can round down to nothing.", "this tool"},
		{PartOfInstance, LevelNote, "Quota for a part of an instance fits no job that needs whole instances.", "this tool"},
		{Unreserved, LevelNote, "Capacity that no team has reserved is idle unless idle resource sharing is enabled.", guide},
		{NobodyLends, LevelWarning, "A team can borrow only what another team of the same instance type lends.", guide},
		{ClassInUse, LevelError, "A priority class that workloads use cannot be removed.", "SageMaker Developer Guide, task governance: policies"},
		{BelowUse, LevelWarning, "Quota below the current use makes running jobs borrowers that can be preempted.", "Kueue: preemption"},
		{BeingDeleted, LevelError, "An object that is being deleted cannot be changed: the change would go with it.", kueueDocs},
		{BadText, LevelError, "A description consists of letters, digits, spaces, punctuation and symbols.", apiModel},
	}
}

// rule returns the rule of a code.
func rule(code string) Rule {
	if r, ok := ruleOf()[code]; ok {
		return r
	}
	return Rule{Code: code, Level: LevelNote}
}

var ruleOf = sync.OnceValue(func() map[string]Rule {
	rules := map[string]Rule{}
	for _, r := range Rules() {
		rules[r.Code] = r
	}
	return rules
})

// NewFinding returns a finding with the level and source of its rule, at the position of a path.
func NewFinding(code, path string, at Positions, f Finding) Finding {
	r := rule(code)
	f.Code, f.Level, f.Source, f.Path = code, r.Level, r.Source, path
	if at != nil {
		place := at.Of(path)
		f.Line, f.Column = place.Line, place.Column
	}
	return f
}

// Finding is one place where a document breaks a rule.
type Finding struct {
	Code  string
	Level Level
	// Path names the field; Line and Column are 0 where the document has no text.
	Path         string
	Line, Column int
	Team         string   `json:",omitempty"`
	Subject      string   `json:",omitempty"` // instance type, class, name or resource
	Value        *float64 `json:",omitempty"` // the number that breaks the rule
	Limit        *float64 `json:",omitempty"` // the number that it should keep to
	Text         string   `json:",omitempty"` // the value that breaks the rule, or why
	Names        []string `json:",omitempty"` // what there is, or others that are concerned
	// Message is a sentence; package present/policytext sets it.
	Message string
	Source  string // the document that the rule comes from
}
