package simulate

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// Kind is a kind of change.
type Kind string

// The kinds of changes, in the order in which they are made: removals first.
const (
	RemoveTeam  Kind = "removeTeam"
	RemoveJob   Kind = "removeJob"
	RemoveNodes Kind = "removeNodes"
	AddNodes    Kind = "addNodes"
	Objects     Kind = "apply"
	AddTeam     Kind = "addTeam"
	Set         Kind = "set"
	Priority    Kind = "priority"
	AddJob      Kind = "addJob"
)

var order = []Kind{RemoveTeam, RemoveJob, RemoveNodes, AddNodes, Objects, AddTeam, Set, Priority, AddJob}

// kindsOfFile are the kinds of changes that a file lists by their text.
var kindsOfFile = slices.DeleteFunc(slices.Clone(order), func(k Kind) bool { return k == Objects })

// Change is one difference from the real cluster. Make one with New, or for a job with NewJob.
type Change struct {
	Kind Kind
	// Text is the change as it was written.
	Text string
	// Target is a team, a job ("name" or "namespace/name"), a node or instance type.
	Target string
	// Setting, Resource and Flavor name the setting of a team; the last two may be "".
	Setting, Resource, Flavor string
	Value                     string
	// Count is a number of nodes; 0: Target is one node's name.
	Count int
	// Manifest is the job to add: one object as JSON or YAML. Namespace is its namespace if it names none.
	Manifest  []byte
	Namespace string
	// Group are the pods of the pod group of the job, with itself.
	Group [][]byte

	put, remove []client.Object // of Objects
}

// The settings of a team.
var settings = map[string]string{
	"quota":             "nominal quota: an amount, or a percentage of the current one",
	"borrow-limit":      "borrowing limit: an amount, a percentage of quota, or none",
	"lend-limit":        "lending limit: an amount, a percentage of quota, or none",
	"weight":            "fair-share weight: a number, or N% of the current one",
	"preemption":        "in the team: Never, LowerPriority, LowerOrNewerEqualPriority",
	"reclaim":           "preemption to reclaim quota: Never, LowerPriority or Any",
	"borrow-preemption": "preemption while borrowing: Never or LowerPriority",
	"queueing":          "queueing strategy: StrictFIFO or BestEffortFIFO",
	"cohort":            "cohort; none leaves the cohort",
	"stop":              "stop policy: None, Hold or HoldAndDrain",
}

// clusterTeam names the whole cluster in --set.
const clusterTeam = "cluster"

// A resource and a flavor may hold dots, a team hardly.
var setForm = pattern.Lazy(`^([^=@]+?)\.([a-z-]+)(?:/([^=@]+))?(?:@([^=]+))?=(.*)$`)

// New parses the text of a change in a flag or a file.
func New(k Kind, text string) (Change, error) {
	c := Change{Kind: k, Text: text}
	if strings.TrimSpace(text) == "" {
		return c, &Error{Code: EmptyChange, Change: c}
	}
	switch k {
	case RemoveTeam, RemoveJob:
		c.Target = text
	case AddTeam:
		name, like, ok := strings.Cut(text, "=")
		if !ok || kinds.NotNamespace(name) != "" || like == "" {
			return c, &Error{Code: TeamForm, Change: c}
		}
		c.Target, c.Value = name, like
	case Set:
		return c.set()
	case Priority:
		job, value, ok := strings.Cut(text, "=")
		if !ok || job == "" || value == "" {
			return c, &Error{Code: PriorityForm, Change: c}
		}
		c.Target, c.Value = job, value
	case AddNodes, RemoveNodes:
		target, count, ok := strings.Cut(text, "=")
		c.Target = target
		if !ok {
			if k == AddNodes {
				c.Count = 1
			}
			return c, nil
		}
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > 100_000 {
			return c, &Error{Code: NodeCount, Change: c, Value: count}
		}
		c.Count = n
	default:
		return c, &Error{Code: UnknownChange, Change: c, Names: kindNames()}
	}
	return c, nil
}

// NewJob adds a job: one object of a supported kind.
func NewJob(text string, manifest []byte, namespace string) Change {
	return Change{Kind: AddJob, Text: text, Manifest: manifest, Namespace: namespace}
}

// NewGroup adds a pod group, by its pods.
func NewGroup(text string, pods [][]byte, namespace string) Change {
	return Change{Kind: AddJob, Text: text, Manifest: pods[0], Namespace: namespace, Group: pods}
}

// Cohort returns the cohort whose setting changes; ok is false for the setting of a team.
func (c Change) Cohort() (name string, ok bool) { return strings.CutPrefix(c.Target, cohortTarget) }

func (c Change) set() (Change, error) {
	m := setForm().FindStringSubmatch(c.Text)
	if m == nil {
		return c, &Error{Code: SettingForm, Change: c}
	}
	c.Target, c.Setting, c.Resource, c.Flavor, c.Value = m[1], m[2], m[3], m[4], m[5]
	if c.Target == clusterTeam && c.Setting == "fair-sharing" {
		if c.Value != "on" && c.Value != "off" {
			return c, &Error{Code: FairSharing, Change: c}
		}
		return c, nil
	}
	if _, ok := settings[c.Setting]; !ok {
		return c, &Error{Code: NoSetting, Change: c, Names: settingNames()}
	}
	if c.Value == "" {
		return c, &Error{Code: NoValue, Change: c}
	}
	return c, nil
}

func settingNames() []string { return slices.Sorted(maps.Keys(settings)) }

// Settings lists the settings of a team with their meaning, for help texts.
func Settings() [][2]string {
	var out [][2]string
	for _, n := range settingNames() {
		out = append(out, [2]string{n, settings[n]})
	}
	return out
}

func kindNames() []string {
	var out []string
	for _, k := range kindsOfFile {
		out = append(out, string(k))
	}
	return out
}

// File reads changes from YAML: `changes:` and a list, each entry one kind of
// change and its text, or a list of texts:
//
//	changes:
//	- set: researchers.borrow-limit=0
//	- removeNodes: [ml.p5.48xlarge=2]
//	- addJob: train.yaml
//
// readJob reads the manifests that are named; a manifest may hold several jobs.
func File(data []byte, readJob func(path string) ([]Change, error)) ([]Change, error) {
	var doc struct {
		Changes []map[string]any `json:"changes"`
	}
	if err := yaml.UnmarshalStrict(data, &doc); err != nil {
		return nil, &Error{Code: NotChanges, Err: err}
	}
	var out []Change
	for i, entry := range doc.Changes {
		for name, value := range entry {
			var texts []string
			switch v := value.(type) {
			case string:
				texts = []string{v}
			case []any:
				for _, t := range v {
					s, ok := t.(string)
					if !ok {
						return nil, &Error{Code: NotText, Count: i + 1, Value: name}
					}
					texts = append(texts, s)
				}
			default:
				return nil, &Error{Code: NotText, Count: i + 1, Value: name}
			}
			for _, text := range texts {
				changes, err := one(Kind(name), text, readJob)
				if err != nil {
					return nil, &Error{Code: InChange, Count: i + 1, Err: err}
				}
				out = append(out, changes...)
			}
		}
	}
	return out, nil
}

func one(k Kind, text string, readJob func(string) ([]Change, error)) ([]Change, error) {
	if k == AddJob {
		return readJob(text)
	}
	c, err := New(k, text)
	return []Change{c}, err
}
