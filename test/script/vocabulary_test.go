package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// word is a key of the vocabulary in docs/output.md.
type word struct {
	shapes    []string // text, number, bool, list, object, map
	documents []string
}

// vocabulary reads the table of docs/output.md: key, shape, documents, meaning.
func vocabulary(t *testing.T) map[string]word {
	t.Helper()
	text, err := os.ReadFile("../../docs/output.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("\n## Vocabulary\n"))
	words, last := map[string]word{}, ""
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "## ") {
			break
		}
		cells := strings.Split(strings.TrimSpace(line), " | ")
		key, ok := strings.CutPrefix(cells[0], "| `")
		if !ok {
			continue
		}
		key = strings.TrimSuffix(key, "`")
		if len(cells) != 4 || strings.Trim(cells[3], " |") == "" {
			t.Fatalf("a row has four cells: %s", line)
		}
		if _, twice := words[key]; twice || strings.ToLower(key) < strings.ToLower(last) {
			t.Errorf("%s stands in the table twice, or not by its alphabet", key)
		}
		words[key], last = word{strings.Split(cells[1], ", "), strings.Split(cells[2], ", ")}, key
	}
	if len(words) < 100 {
		t.Fatalf("%d words in the table of docs/output.md", len(words))
	}
	return words
}

// documents are the commands that print JSON, by the name that the table has for
// what they print. Those after a * may end with another code than 0.
var documents = []struct{ name, args string }{
	{"list-jobs", "list-jobs -A --verbose"},
	{"list-jobs", "wait-job vit-huge -n hyperpod-ns-researchers --for running"},
	{"get-job", "get-job vit-huge -n hyperpod-ns-researchers"},
	{"get-job", "get-job vit-huge -n hyperpod-ns-researchers --verbose"},
	{"get-job", "get-job pretrain -n hyperpod-ns-research --verbose --sandbox=bad-node"},
	{"list-pods", "list-pods pretrain -n hyperpod-ns-research --verbose --sandbox=bad-node"},
	{"explain-job", "explain-job pretrain -n hyperpod-ns-research --sandbox=bad-node"},
	{"list-pods", "list-pods vit-huge -n hyperpod-ns-researchers --verbose"},
	{"explain-job", "explain-job dino-giant -n hyperpod-ns-researchers --assume-duration 4h"},
	{"explain-job", "explain-job vit-huge -n hyperpod-ns-researchers"},
	{"explain-job", "explain-job batch-score -n hyperpod-ns-inference"},
	{"dry-run", "start-job smpv2-llama2 -n hyperpod-ns-researchers --dry-run"},
	{"sweep-check", "* start-job smpv2-llama2 -n hyperpod-ns-researchers --accelerators 8 --node-count 4 --priority inference --sweep seed=1..2 --dry-run --assume-duration 4h"},
	{"get-quota", "get-quota --all-resources"},
	{"get-quota", "get-quota --by instance-type"},
	{"get-quota", "get-quota --by node-group"},
	{"get-queue", "get-queue"},
	{"get-queue", "get-queue interns --assume-duration 4h"},
	{"get-usage", "get-usage -n hyperpod-ns-researchers"},
	{"get-usage", "get-usage -A --since 1d"},
	{"report", "report --prices ../../examples/prices.yaml"},
	{"simulate", "simulate --remove-team interns"},
	{"simulate", "* simulate --snapshot ../../internal/governance/simulate/testdata/loop.yaml"},
	{"simulate", "simulate --cycles 2 --remove-nodes ml.p4d.24xlarge=1"},
	{"simulate", "simulate --at +2h --assume-duration 4h"},
	{"simulate", "simulate --for 4h --remove-nodes ml.p5.48xlarge=5"},
	{"governance-plan", "* governance plan -f ../../examples/teams.yaml"},
	{"governance-plan", "* governance plan -f ../../examples/teams.yaml --cluster-name ml-prod --prune"},
	{"governance-audit", "governance audit"},
	{"governance-audit", "governance audit -f ../../examples/teams.yaml --cluster-name ml-prod"},
	{"governance-rbac", "governance rbac researchers --verify"},
	{"governance-check", "* governance check ../../examples/teams.yaml --capacity ml.p5.48xlarge=1"},
	{"list-templates", "list-templates"},
	{"get-template", "get-template pytorch"},
	{"validate-template", "* validate-template ../../docs/output.md pytorch"},
	{"list-instance-types", "list-instance-types"},
	{"save-snapshot", "save-snapshot $WORK/cluster.json"},
	{"sandbox list", "sandbox list"},
	{"config view", "config view"},
	{"get-log", "get-log vit-huge -n hyperpod-ns-researchers --all-pods --tail 2"},
	{"cancel-job", "cancel-job vit-huge -n hyperpod-ns-researchers --dry-run"},
	{"patch-job", "patch-job suspend vit-huge -n hyperpod-ns-researchers --dry-run"},
	{"patch-job", "patch-job priority dino-giant -n hyperpod-ns-researchers --priority inference --dry-run"},
	{"version", "version"},
	{"help", "help"},
	{"doctor", "doctor -n hyperpod-ns-researchers"},
	{"get-clusters", "get-clusters -n hyperpod-ns-ml-engineers"},
	{"get-clusters", "get-clusters --group"},
	{"describe-cluster", "describe-cluster ml-prod"},
	{"list-cluster-nodes", "list-cluster-nodes ml-prod"},
	{"list-cluster-events", "list-cluster-events ml-prod"},
	{"create-cluster", "create-cluster -f ../../examples/cluster.yaml"},
	{"reboot-cluster-nodes", "* reboot-cluster-nodes ml-dev --group workers --yes"},
	{"reboot-cluster-nodes", "replace-cluster-nodes ml-dev --group workers --dry-run"},
}

// sentences are the commands that print text in a pipe without -o json (docs/output.md).
var sentences = []string{"help", "wait-job", "cancel-job", "patch-job", "start-job", "validate-template", "version", "get-log", "create-cluster", "reboot-cluster-nodes", "replace-cluster-nodes"}

// clusterless are the documents that need no Kubernetes cluster.
var clusterless = []string{"version", "help", "sandbox list", "config view", "get-clusters", "describe-cluster", "list-cluster-nodes", "list-cluster-events", "create-cluster", "reboot-cluster-nodes", "replace-cluster-nodes"}

// withAccount returns the environment of an AWS account, for run.
func withAccount(t *testing.T) []string {
	t.Helper()
	s := fake.New(fake.Options{})
	end, err := fillAccount(t.TempDir(), s, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	allocate(t, s)
	endpoint := httptest.NewServer(s)
	t.Cleanup(endpoint.Close)
	var out []string
	for name, value := range awsEnv(endpoint.URL) {
		out = append(out, name+"="+value)
	}
	return out
}

// rare keys are documented and not in what the sandbox has to show.
var rare = []string{
	"NotCompared",                       // the cluster's configuration cannot be read
	"Type",                              // get-template's is there; of --watch, which has no end, e2e tests have it
	"Partial",                           // of a log's line that is longer than 64 KiB
	"Utilization", "Measured", "Unused", // with a Prometheus server: TestPrometheus
}

// TestVocabulary: every key of every JSON document stands in the table of
// docs/output.md, with the shape and the document it has there, and the table has no
// key that no document has.
func TestVocabulary(t *testing.T) {
	t.Parallel()
	words := vocabulary(t)
	used := map[string]bool{}
	for _, k := range rare {
		used[k] = true
	}
	for name, keys := range printed(t) {
		for key, shapes := range keys {
			used[key] = true
			w, ok := words[key]
			if !ok {
				t.Errorf("%s has a key %s (%s) that docs/output.md does not: is there a word for it already?", name, key, strings.Join(slices.Sorted(maps.Keys(shapes)), ", "))
				continue
			}
			if !slices.Contains(w.documents, name) {
				t.Errorf("docs/output.md does not say that %s has %s", name, key)
			}
			for s := range shapes {
				if s != "null" && !slices.Contains(w.shapes, s) && (s != "object" || !slices.Contains(w.shapes, "map")) {
					t.Errorf("%s of %s is a %s, not %s as docs/output.md says", key, name, s, strings.Join(w.shapes, " or "))
				}
			}
		}
	}
	for _, schema := range []string{"admission-check", "explain-job", "simulate", "get-quota", "get-queue"} {
		data, err := os.ReadFile("../../docs/schema/" + schema + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var s map[string]any
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		for _, key := range properties(s) {
			if used[key] = true; words[key].shapes == nil {
				t.Errorf("docs/output.md has no %s, of docs/schema/%s.json", key, schema)
			}
		}
	}
	for key := range words {
		if !used[key] {
			t.Errorf("no document has a key %s, which docs/output.md explains", key)
		}
	}
}

// properties are the keys of a JSON schema, however deep.
func properties(schema map[string]any) (out []string) {
	for key, of := range schema {
		switch of := of.(type) {
		case map[string]any:
			if key == "properties" {
				out = slices.AppendSeq(out, maps.Keys(of))
				for _, p := range of {
					out = append(out, properties(p.(map[string]any))...)
				}
			} else {
				out = append(out, properties(of)...)
			}
		}
	}
	return out
}

// printed runs every command on a sandbox and returns, by document, its keys with
// the shapes of their values.
func printed(t *testing.T) map[string]map[string]map[string]bool {
	words := vocabulary(t)
	work, account := t.TempDir(), withAccount(t)
	if _, err := run(t, work, "sandbox", "create", "box"); err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]map[string]bool{}
	for _, d := range documents {
		args, mayFail := strings.CutPrefix(strings.ReplaceAll(d.args, "$WORK", work), "* ")
		with := strings.Fields(args)
		if slices.Contains(sentences, with[0]) {
			with = append(with, "-o", "json") // a pipe alone makes JSON of the others
		}
		if !strings.Contains(args, "--snapshot") && !strings.Contains(args, "--sandbox") && !slices.Contains(clusterless, d.name) {
			with = append(with, "--sandbox=box")
		}
		out, err := runOn(t, work, account, with...)
		if err != nil && !mayFail {
			t.Errorf("hyperpod %s: %v", args, err)
		}
		if found[d.name] == nil {
			found[d.name] = map[string]map[string]bool{}
		}
		values := 0
		for dec := json.NewDecoder(strings.NewReader(out)); ; values++ {
			var v any
			if err := dec.Decode(&v); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("hyperpod %s: %v", args, err)
			}
			keysOf(v, words, found[d.name])
		}
		if values == 0 {
			t.Errorf("hyperpod %s printed no JSON", args)
		}
	}
	return found
}

// keysOf collects the keys of a value. What is in a map, whose keys are names, or in
// an object of the API is not the product's own.
func keysOf(v any, words map[string]word, into map[string]map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			keysOf(e, words, into)
		}
	case map[string]any:
		for key, e := range v {
			if into[key] == nil {
				into[key] = map[string]bool{}
			}
			s := shape(e)
			into[key][s] = true
			if s != "object" || slices.Contains(words[key].shapes, "object") || words[key].shapes == nil {
				keysOf(e, words, into)
			}
		}
	}
}

func shape(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case float64:
		return "number"
	case bool:
		return "bool"
	case []any:
		return "list"
	}
	return "object"
}

// TestFormats: every format that a command's help lists is one that it prints.
func TestFormats(t *testing.T) {
	t.Parallel()
	home, account := t.TempDir(), withAccount(t)
	arguments := map[string]string{"jsonpath=": "{}", "custom-columns=": "A:.Name"}
	seen := map[string]bool{}
	for _, d := range documents {
		args, mayFail := strings.CutPrefix(strings.ReplaceAll(d.args, "$WORK", home), "* ")
		if mayFail || seen[d.name] {
			continue
		}
		seen[d.name] = true
		fields := strings.Fields(args)
		words := fields[:1]
		if slices.Contains([]string{"sandbox", "config", "governance", "patch-job"}, fields[0]) {
			words = fields[:2]
		}
		help, err := run(t, home, append(slices.Clone(words), "--help")...)
		_, listed, ok := strings.Cut(help, "output format: ")
		if err != nil || !ok {
			t.Errorf("%s --help lists no formats: %v", d.name, err)
			continue
		}
		listed, _, _ = strings.Cut(listed, "\n")
		for _, format := range strings.Split(listed, ", ") {
			if strings.HasSuffix(format, "-file=") {
				continue
			}
			with := append(slices.Clone(fields), "-o", format+arguments[format])
			if !slices.Contains(clusterless, d.name) && !strings.Contains(args, "--sandbox=") {
				with = append(with, "--sandbox")
			}
			if d.name == "create-cluster" { // it exists after the first format
				with = append(with, "--dry-run")
			}
			if out, err := runOn(t, home, account, with...); err != nil || out == "" {
				t.Errorf("hyperpod %s: %v", strings.Join(with, " "), err)
			}
		}
	}
}
