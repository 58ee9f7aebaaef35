package simulate

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Kind is a kind of change.
type Kind string

// The kinds of changes, in the order in which they are made: what goes, goes first.
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

// Change is one thing that is different. Make one with New, or for a job with NewJob.
type Change struct {
	Kind Kind
	// Text is the change as it was written.
	Text string
	// Target is a team, a job ("name" or "namespace/name"), a node or instance type.
	Target string
	// Setting, Resource and Flavor say what of a team is set; the latter two may be "".
	Setting, Resource, Flavor string
	Value                     string
	// Count is a number of nodes; 0: Target is one node's name.
	Count int
	// Manifest is the job to add, JSON or YAML of one object, Namespace where it goes
	// when it does not say.
	Manifest  []byte
	Namespace string

	put, remove []client.Object // of Objects
}

// The settings of a team.
var settings = map[string]string{
	"quota":             "nominal quota: an amount, or a percentage of the present one",
	"borrow-limit":      "borrowing limit: an amount, a percentage of quota, or none",
	"lend-limit":        "lending limit: an amount, a percentage of quota, or none",
	"weight":            "fair-share weight: a number, or a percentage of the present",
	"preemption":        "in the team: Never, LowerPriority, LowerOrNewerEqualPriority",
	"reclaim":           "preemption to reclaim quota: Never, LowerPriority or Any",
	"borrow-preemption": "preemption while borrowing: Never or LowerPriority",
	"queueing":          "queueing strategy: StrictFIFO or BestEffortFIFO",
	"cohort":            "cohort; none leaves the cohort",
	"stop":              "stop policy: None, Hold or HoldAndDrain",
}

// clusterTeam is what stands for the whole cluster in --set.
const clusterTeam = "cluster"

// A resource and a flavor may hold dots, a team hardly.
var setForm = regexp.MustCompile(`^([^=@]+?)\.([a-z-]+)(?:/([^=@]+))?(?:@([^=]+))?=(.*)$`)

// New parses the text of a change in a flag or a file.
func New(k Kind, text string) (Change, error) {
	c := Change{Kind: k, Text: text}
	if strings.TrimSpace(text) == "" {
		return c, errs.Usagef("%s is empty", k)
	}
	switch k {
	case RemoveTeam, RemoveJob:
		c.Target = text
	case AddTeam:
		name, like, ok := strings.Cut(text, "=")
		if !ok || kinds.NotNamespace(name) != "" || like == "" {
			return c, errs.Usagef("invalid team %q: must be NAME=TEAM", text).Suggest(suggest.AddTeam("NAME", "TEAM"))
		}
		c.Target, c.Value = name, like
	case Set:
		return c.set()
	case Priority:
		job, value, ok := strings.Cut(text, "=")
		if !ok || job == "" || value == "" {
			return c, errs.Usagef("invalid priority change %q: must be JOB=CLASS or JOB=NUMBER", text).Suggest(suggest.SetPriority("JOB", "CLASS"))
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
			example := suggest.AddNodes
			if k == RemoveNodes {
				example = suggest.RemoveNodes
			}
			return c, errs.Usagef("invalid number of nodes %q: must be between 1 and 100000", count).Suggest(example("ml.p5.48xlarge", "2"))
		}
		c.Count = n
	default:
		return c, errs.Usagef("change %q not found", k).WithFact("available", kindNames())
	}
	return c, nil
}

// NewJob adds a job: one object of a supported kind.
func NewJob(text string, manifest []byte, namespace string) Change {
	return Change{Kind: AddJob, Text: text, Manifest: manifest, Namespace: namespace}
}

// subject is whose setting it is, in an error.
func (c Change) subject() string {
	if name, ok := strings.CutPrefix(c.Target, cohortTarget); ok {
		return "cohort " + name
	}
	return "team " + c.Target
}

func (c Change) set() (Change, error) {
	m := setForm.FindStringSubmatch(c.Text)
	if m == nil {
		return c, errs.Usagef("invalid setting %q: must be TEAM.SETTING=VALUE", c.Text).
			Suggest(suggest.SetPolicy("TEAM", "borrow-limit", "0"), suggest.SetPolicy("TEAM", "quota", "32"), suggest.SetPolicy("TEAM", "quota/nvidia.com/gpu@ml.p5.48xlarge", "32"))
	}
	c.Target, c.Setting, c.Resource, c.Flavor, c.Value = m[1], m[2], m[3], m[4], m[5]
	if c.Target == clusterTeam && c.Setting == "fair-sharing" {
		if c.Value != "on" && c.Value != "off" {
			return c, errs.Usagef("invalid fair-sharing %q: must be on or off", c.Value)
		}
		return c, nil
	}
	if _, ok := settings[c.Setting]; !ok {
		e := errs.Usagef("setting %q not found", c.Setting)
		for _, n := range errs.Near(c.Setting, settingNames()) {
			e.Suggest(suggest.SetPolicy(c.Target, n, "VALUE"))
		}
		return c, e.WithFact("available", strings.Join(settingNames(), ", "))
	}
	if c.Value == "" {
		return c, errs.Usagef("%s has no value", c.Text)
	}
	return c, nil
}

func settingNames() []string {
	var out []string
	for n := range settings {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// Settings lists the settings of a team with their meaning, for help texts.
func Settings() [][2]string {
	var out [][2]string
	for _, n := range settingNames() {
		out = append(out, [2]string{n, settings[n]})
	}
	return out
}

func kindNames() string {
	var out []string
	for _, k := range kindsOfFile {
		out = append(out, string(k))
	}
	return strings.Join(out, ", ")
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
		return nil, errs.Usagef("cannot read the file of changes: it must contain a list under \"changes\"").
			WithFact("example", "changes:\n- set: TEAM.borrow-limit=0\n- addJob: train.yaml").WithCause(err)
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
						return nil, errs.Usagef("change %d: %s must be a text", i+1, name)
					}
					texts = append(texts, s)
				}
			default:
				return nil, errs.Usagef("change %d: %s must be a text", i+1, name)
			}
			for _, text := range texts {
				changes, err := one(Kind(name), text, readJob)
				if err != nil {
					return nil, errs.Wrap(err, "change "+strconv.Itoa(i+1)).WithCode(errs.ExitOf(err))
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
