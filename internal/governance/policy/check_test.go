package policy

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

const valid = `version: hyperpod.policy/v1
policy:
  fairShare: Enabled
  idleResourceSharing: Enabled
  priorityClasses:
  - {name: inference, weight: 100}
teams:
- team: a
  quota:
  - {instanceType: ml.p5.48xlarge, count: 2}
  fairShareWeight: 10
- team: b
  quota:
  - {instanceType: ml.p5.48xlarge, count: 1}
  fairShareWeight: 20
`

// codes are the findings of a text: CODE line:column.
func codes(t *testing.T, text string, f Facts) string {
	t.Helper()
	d, at, faults := Parse([]byte(text))
	if len(faults) > 0 {
		t.Fatalf("%+v", faults)
	}
	var out []string
	for _, x := range Check(d, at, f) {
		out = append(out, x.Code)
	}
	return strings.Join(out, " ")
}

func TestCheck(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(valid, old) {
			t.Fatalf("%q is not in the valid document", old)
		}
		return strings.Replace(valid, old, new, 1)
	}
	for name, c := range map[string]struct {
		text string
		cap  map[string]int
		want string
	}{
		"a valid document has no findings":               {valid, nil, ""},
		"quota within capacity has no finding":           {valid, map[string]int{"ml.p5.48xlarge": 3}, ""},
		"quota over capacity":                            {valid, map[string]int{"ml.p5.48xlarge": 2}, OverCapacity},
		"quota of a type without nodes":                  {valid, map[string]int{}, OverCapacity},
		"capacity in the document":                       {valid + "cluster: {capacity: {p5.48xlarge: 2}}\n", nil, OverCapacity},
		"unreserved capacity":                            {replace("idleResourceSharing: Enabled", "idleResourceSharing: Disabled"), map[string]int{"ml.p5.48xlarge": 4}, Unreserved},
		"no classes":                                     {replace("\n  - {name: inference, weight: 100}", " []"), nil, NoClasses},
		"a borrowing limit of a team that only lends":    {replace("  fairShareWeight: 10", "  fairShareWeight: 10\n  strategy: Lend\n  borrowLimit: 20"), nil, BorrowIgnored},
		"absolute limits of a team that does not borrow": {replace("  fairShareWeight: 10", "  strategy: DontLend\n  absoluteBorrowLimits: [{instanceType: ml.p5.48xlarge, count: 1}]"), nil, BorrowIgnored},
		"weights without fair share":                     {replace("fairShare: Enabled", "fairShare: Disabled"), nil, WeightIgnored + " " + WeightIgnored},
		"a description with a control character":         {replace("- team: b", "- team: b\n  description: \"a\\ab\""), nil, BadText},
		"one weight of 0":                                {replace("fairShareWeight: 10", "fairShareWeight: 0"), nil, WeightZero},
		"a weight over 100":                              {replace("fairShareWeight: 10", "fairShareWeight: 101"), nil, OutOfRange},
		"a negative weight":                              {replace("fairShareWeight: 10", "fairShareWeight: -1"), nil, OutOfRange},
		"a class weight over 100":                        {replace("weight: 100", "weight: 101"), nil, OutOfRange},
		"a negative count":                               {replace("count: 2", "count: -2"), nil, OutOfRange},
		"a count beyond the API":                         {replace("count: 2", "count: 10000001"), nil, OutOfRange},
		"a borrowing limit beyond the API":               {replace("  fairShareWeight: 10", "  fairShareWeight: 10\n  borrowLimit: 10001"), nil, OutOfRange},
		"a large borrowing limit":                        {replace("  fairShareWeight: 10", "  fairShareWeight: 10\n  borrowLimit: 501"), nil, LargeBorrow},
		"a team twice":                                   {replace("team: b", "team: a"), nil, Duplicate},
		"a class twice":                                  {replace("weight: 100}", "weight: 100}\n  - {name: inference, weight: 1}"), nil, Duplicate},
		"an instance type twice":                         {replace("count: 2}", "count: 2}\n  - {instanceType: p5.48xlarge, count: 1}"), nil, Duplicate},
		"an allocation twice":                            {replace("team: b", "team: b\n  name: a"), nil, Duplicate},
		"one LocalQueue of two teams":                    {valid + "- team: c\n  fairShareWeight: 1\n  kueue: {localQueues: [{namespace: hyperpod-ns-a, name: hyperpod-ns-a-localqueue}]}\n", nil, SameNamespace},
		"a bad team name":                                {replace("team: a", "team: A_b"), nil, BadName},
		"a team name of 41 characters":                   {replace("team: a", "team: "+strings.Repeat("a", 41)), nil, BadName},
		"a bad class name":                               {replace("name: inference", "name: inf.erence"), nil, BadName},
		"an unknown instance type":                       {replace("instanceType: ml.p5.48xlarge, count: 2", "instanceType: ml.p9.48xlarge, count: 2"), nil, UnknownInstance},
		"a row without an amount":                        {replace(", count: 2", ""), nil, UnitMissing},
		"accelerators of a type without":                 {replace("ml.p5.48xlarge, count: 2", "ml.m5.xlarge, accelerators: 2"), nil, UnitMissing},
		"count beside accelerators":                      {replace("count: 2", "count: 2, accelerators: 8"), nil, UnitConflict},
		"a profile of another type":                      {replace("ml.p5.48xlarge, count: 2", "ml.p5.48xlarge, acceleratorPartition: {type: mig-1g.5gb, count: 2}"), nil, BadPartition},
		"a profile beside accelerators":                  {replace("count: 2", "accelerators: 8, acceleratorPartition: {type: mig-1g.10gb, count: 2}"), nil, BadPartition},
		"a profile of the type":                          {replace("count: 2", "acceleratorPartition: {type: mig-1g.10gb, count: 2}"), nil, ""},
		"rows beside resourceGroups":                     {replace("  fairShareWeight: 10", "  fairShareWeight: 10\n  kueue: {spec: {resourceGroups: []}}"), nil, TwiceDescribed},
		"a field that Kueue does not have":               {replace("  fairShareWeight: 10", "  fairShareWeight: 10\n  kueue: {spec: {stopPolcy: Hold}}"), nil, BadSpec},
		"a part of an instance":                          {replace("count: 2", "accelerators: 4"), nil, PartOfInstance},
		"a limit that rounds to nothing":                 {replace("count: 2", "accelerators: 1"), nil, PartOfInstance + " " + BorrowsNothing},
		"nobody to share with":                           {strings.Replace(valid[:strings.Index(valid, "- team: b")], "idleResourceSharing: Enabled", "", 1), nil, NobodyToShare},
		"nobody lends the type":                          {strings.Replace(strings.Replace(valid, "idleResourceSharing: Enabled", "", 1), "p5.48xlarge, count: 1", "g5.12xlarge, count: 1", 1), nil, NobodyLends + " " + NobodyLends},
	} {
		t.Run(name, func(t *testing.T) {
			if got := codes(t, c.text, Facts{Capacity: c.cap}); got != c.want {
				t.Errorf("findings %q, want %q", got, c.want)
			}
		})
	}
	many := valid
	for i := range 16 {
		many = strings.Replace(many, "  fairShareWeight: 20", "  - {instanceType: "+types[i]+", count: 1}\n  fairShareWeight: 20", 1)
	}
	if got := codes(t, many, Facts{}); !strings.Contains(got, TooMany) {
		t.Errorf("17 instance types: %q", got)
	}
}

var types = []string{"ml.g5.xlarge", "ml.g5.2xlarge", "ml.g5.4xlarge", "ml.g5.8xlarge", "ml.g5.12xlarge", "ml.g5.16xlarge", "ml.g5.24xlarge", "ml.g5.48xlarge",
	"ml.p4d.24xlarge", "ml.p4de.24xlarge", "ml.p5e.48xlarge", "ml.p5en.48xlarge", "ml.g6.xlarge", "ml.g6.2xlarge", "ml.g6.4xlarge", "ml.g6.8xlarge"}

// TestEveryRuleFires: no rule is there for show; rules about a live cluster are tested in
// package plan.
func TestEveryRuleFires(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.Code] || r.Title == "" || r.Source == "" || !strings.HasSuffix(r.Title, ".") {
			t.Errorf("rule %+v", r)
		}
		seen[r.Code] = true
		if want := map[byte]Level{'E': LevelError, 'W': LevelWarning, 'N': LevelNote}[r.Code[0]]; want != r.Level {
			t.Errorf("%s has level %s", r.Code, r.Level)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":                   {"", "1:1 Missing version"},
		"comments alone":          {"# teams\n", "1:1 Missing version"},
		"no version":              {"teams: []\n", "1:1 Missing version"},
		"another version":         {"version: v9\n", "1:10 WrongValue version"},
		"a newer version":         {"version: hyperpod.policy/v2\nfuture: 1\nteams: {}\n", "1:10 Newer version"},
		"an unknown version":      {"version: hyperpod.policy/v1beta1\n", "1:10 WrongValue version"},
		"a manifest":              {"apiVersion: v1\nkind: List\nitems: []\n", "1:1 Manifest "},
		"manifests":               {"apiVersion: v1\nkind: Secret\n---\napiVersion: v1\nkind: Secret\n", "1:1 Manifest "},
		"two documents":           {"version: hyperpod.policy/v1\n---\nversion: hyperpod.policy/v1\n", "3:1 Documents "},
		"not YAML":                {"version: [\n", "1:1 Syntax "},
		"a list":                  {"- a\n", "1:1 WrongType "},
		"an unknown field":        {"version: hyperpod.policy/v1\nteam: []\n", "2:1 UnknownField team"},
		"a field of another type": {"version: hyperpod.policy/v1\nteams: x\n", "2:8 WrongType teams"},
		"a text for a number":     {"version: hyperpod.policy/v1\nteams:\n- team: a\n  borrowLimit: 50%\n", "4:16 WrongType teams[0].borrowLimit"},
		"a fraction":              {"version: hyperpod.policy/v1\nteams:\n- team: a\n  borrowLimit: 1.5\n", "4:16 WrongType teams[0].borrowLimit"},
		"a word in lower case":    {"version: hyperpod.policy/v1\nteams:\n- team: a\n  strategy: lend\n", "4:13 WrongValue teams[0].strategy"},
		"a team without a name":   {"version: hyperpod.policy/v1\nteams:\n- quota: []\n", "3:3 Missing teams[0].team"},
		"an empty team name":      {"version: hyperpod.policy/v1\nteams:\n- team: \"\"\n", "3:3 Missing teams[0].team"},
		"a null team":             {"version: hyperpod.policy/v1\nteams:\n- null\n", "3:3 WrongType teams[0]"},
		"infinite vcpu":           {"version: hyperpod.policy/v1\nteams:\n- team: a\n  quota: [{instanceType: x, vcpu: .inf}]\n", "4:35 Syntax "},
	} {
		t.Run(name, func(t *testing.T) {
			d, _, faults := Parse([]byte(c.text))
			if d != nil || len(faults) == 0 {
				t.Fatal("accepted")
			}
			f := faults[0]
			if got := strings.TrimSpace(strings.Join([]string{itoa(f.Line) + ":" + itoa(f.Column), string(f.Kind), f.Path}, " ")); got != strings.TrimSpace(c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte("version: hyperpod.policy/v1\nkueue: {cohorts: [{name: a, spec: {}}]}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, at, faults := Parse(text)
		if (d == nil) != (len(faults) > 0) {
			t.Fatalf("document %v with faults %v", d, faults)
		}
		if d == nil {
			return
		}
		found := Check(d, at, Facts{Capacity: map[string]int{}})
		if Worst(found) == LevelError {
			return
		}
		if _, err := ToKueue(d, DefaultMapping()); err != nil {
			t.Fatalf("no error was found, and yet: %v", err)
		}
		out, err := Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		again, _, faults := Parse(out)
		if len(faults) > 0 || len(Diff(d, again, true)) > 0 {
			t.Fatalf("written and read again: %v\n%s", faults, out)
		}
	})
}

var updateDocs = flag.Bool("update", false, "rewrite docs/governance-check.md")

const docsHead = "# Rules for governance files\n\n" +
	"`hyperpod governance check` and `hyperpod governance plan` check teams, quota and policy against the rules below. A\n" +
	"finding names the line and column, and with `-o json` the source of its rule. For example:\n\n" +
	"```\n" +
	"$ hyperpod governance check teams.yaml --capacity ml.p5.48xlarge=8\n" +
	"POSITION          LEVEL    CODE  MESSAGE\n" +
	"teams.yaml:10:7   warning  W001  quota of ml.p5.48xlarge exceeds capacity: teams a, b reserve 72 nvidia.com/gpu, the cluster has 64\n" +
	"```\n\n" +
	"The letter of a code is its level: E for an error (the service or Kueue refuses the file), W for a warning, N for a\n" +
	"note. A code never changes its meaning. E000 is a fault of the text.\n\n"

// TestTable: docs/governance-check.md is the table of rules.
func TestTable(t *testing.T) {
	var b strings.Builder
	b.WriteString(docsHead + "| code | level | rule | source |\n|---|---|---|---|\n")
	for _, r := range Rules() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.Code, r.Level, r.Title, r.Source)
	}
	const path = "../../../docs/governance-check.md"
	if *updateDocs {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != b.String() {
		t.Errorf("docs/governance-check.md is not the table (go test ./internal/governance/policy -update): %v", err)
	}
}
