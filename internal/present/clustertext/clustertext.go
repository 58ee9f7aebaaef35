// Package clustertext words faults of cluster documents, changes of clusters and their
// progress.
package clustertext

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/clusters/spec"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// mostWords are the words that a message lists.
const mostWords = 12

// Fault words a fault of a document, with the path of the value.
func Fault(f spec.Fault) string {
	text := fault(f)
	if f.Path == "" {
		return text
	}
	return f.Path + ": " + text
}

func fault(f spec.Fault) string {
	switch f.Kind {
	case spec.Documents:
		return f.Got + " documents found: must be 1"
	case spec.UnknownMember:
		return "unknown member " + strconv.Quote(f.Got) + offer(f)
	case spec.UnknownWord:
		return "unknown value " + strconv.Quote(f.Got) + offer(f)
	case spec.WrongType:
		return "must be " + typeName(f.Want[0]) + ", found " + f.Got
	case spec.Missing:
		return f.Got + " is required"
	case spec.Length:
		return "must have " + between(f.Min, f.Max, "character", "characters") + ", has " + f.Got
	case spec.Size:
		return "must have " + between(f.Min, f.Max, "element", "elements") + ", has " + f.Got
	case spec.Range:
		return "must be " + limits(f.Min, f.Max) + ", found " + f.Got
	case spec.Pattern:
		return "invalid value " + strconv.Quote(f.Got) + ": must match " + f.Want[0]
	case spec.Union:
		return "must have exactly one of " + strings.Join(f.Want, ", ")
	case spec.Twice:
		return "a second instance group is named " + f.Got
	case spec.NoInstances:
		return "must have either " + strings.Join(f.Want, " or ")
	case spec.MinCount:
		return fmt.Sprintf("must be at most InstanceCount (%d), found %s", f.Max, f.Got)
	case spec.Spelling:
		return "understood as " + f.Want[0]
	case spec.UnknownInstance:
		return "unknown instance type " + f.Got + ": AWS decides whether it exists"
	case spec.Fixed:
		return "ignored: it cannot change after the cluster was created"
	case spec.Unchecked:
		return "unknown " + strconv.Quote(f.Got) + ": sent without a check"
	}
	return f.Got
}

func offer(f spec.Fault) string {
	if len(f.Near) > 0 {
		return "; did you mean " + f.Near[0] + "?"
	}
	return "; must be one of: " + words.Some(f.Want, mostWords)
}

func typeName(t string) string {
	switch spec.Type(t) {
	case spec.Structure, spec.Map:
		return "an object"
	case spec.List:
		return "a list"
	case spec.Integer:
		return "a whole number"
	case spec.Boolean:
		return "true or false"
	}
	return "a text"
}

func limits(least, most int) string {
	if most == 0 {
		return fmt.Sprintf("at least %d", least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

func between(least, most int, one, many string) string {
	if most == 0 {
		return "at least " + words.Count(least, one, many)
	}
	if least == most {
		return words.Count(least, one, many)
	}
	return fmt.Sprintf("%d to %s", least, words.Count(most, one, many))
}

// Change words a value that changes.
func Change(c spec.Change) string {
	switch {
	case c.Old == "":
		return fmt.Sprintf("+ %s: %s", c.Path, c.New)
	case c.New == "":
		return fmt.Sprintf("- %s: %s", c.Path, c.Old)
	}
	return fmt.Sprintf("~ %s: %s -> %s", c.Path, c.Old, c.New)
}

// Progress words how far the groups of a cluster are: "gpu 3 of 8, cpu 2 of 2 (InService)".
func Progress(c clusters.Cluster) string {
	parts := make([]string, 0, len(c.Groups)+1)
	for _, g := range c.Groups {
		text := fmt.Sprintf("%s %d of %d", g.Name, g.Current, g.Target)
		if g.Status != "" && g.Status != clusters.InService {
			text += " " + g.Status
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return c.Status
	}
	return c.Status + ": " + strings.Join(parts, ", ")
}

// Jobs names the first jobs with their pods on some nodes: "ns/vit-huge (2 pods), ns/bert (1 pod)".
func Jobs(list []jobs.OnNodes) string {
	var out []string
	for _, j := range list {
		out = append(out, fmt.Sprintf("%s/%s (%s)", j.Namespace, j.Name, words.Count(j.Pods, "pod", "pods")))
	}
	return words.Some(out, 10)
}
