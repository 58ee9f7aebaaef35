package snapshot_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

func describe(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBadFiles(t *testing.T) {
	var good bytes.Buffer
	s := capture(t, fixture.New(
		rawJSON(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","uid":"u"}}`),
		rawJSON(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"b","uid":"v"}}`)).Client(), snapshot.Options{})
	if err := s.Write(&good); err != nil {
		t.Fatal(err)
	}
	text := good.String()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(good.Bytes())
	_ = z.Close()
	cases := map[string]struct {
		data []byte
		want string
	}{
		"empty":               {nil, "it is empty"},
		"blank":               {[]byte(" \n\n"), "it is empty"},
		"cut in the middle":   {[]byte(text[:len(text)/2]), "cut short"},
		"cut at the end":      {[]byte(text[:len(text)-3]), "cut short"},
		"cut gzip":            {zipped.Bytes()[:zipped.Len()/2], "cut short"},
		"newer":               {[]byte(strings.Replace(text, `"format": 1`, `"format": 7`, 1)), "newer hyperpod made it (snapshot format 7"},
		"newer, other header": {[]byte(strings.NewReplacer(`"format": 1`, `"format": 7`, `"taken": "`, `"taken": 5, "x": "`).Replace(text)), "newer hyperpod made it (snapshot format 7"},
		"newer, other form":   {[]byte(`{"kind":"hyperpod-snapshot","format":2,"objects":[1]}`), "newer hyperpod"},
		"damaged":             {[]byte(strings.Replace(text, `"namespaces": [`, `"namespaces" [`, 1)), "damaged at line"},
		"a sandbox":           {[]byte(`{"kind":"hyperpod-sandbox","format":1,"objects":{}}`), "it is a sandbox"},
		"another tool's":      {[]byte(`{"version":4,"terraform_version":"1.9.0","resources":[]}`), "neither a snapshot nor Kubernetes objects"},
		"text":                {[]byte("dear diary: [today"), "neither a snapshot nor Kubernetes objects"},
		"binary":              {[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00"), "neither a snapshot nor Kubernetes objects"},
		"other kinds":         {[]byte("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"), "found: Secret"},
		"no name":             {[]byte("apiVersion: v1\nkind: Node\nmetadata: {}\n"), "a Node without a name"},
		"two of one name": {[]byte("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n---\n" +
			"apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\nspec: {nodeLabels: {a: b}}\n"), "two different objects ResourceFlavor f"},
		"a quota that is not a number": {[]byte("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: t}\nspec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: abc}]}]}]}\n"),
			`document 1: ClusterQueue t: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota is "abc", want a quantity`},
		"a request that is not a number": {[]byte("apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: team}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1x}}}]}\n"),
			`Pod team/p: spec.containers[0].resources.requests.cpu is "1x"`},
		"a count that is text": {[]byte("apiVersion: kueue.x-k8s.io/v1beta1\nkind: Workload\nmetadata: {name: w, namespace: team}\nspec: {podSets: [{name: main, count: many}]}\n"),
			"Workload team/w: spec.podSets.count is of the wrong type"},
		"a list that is text": {[]byte("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: t}\nspec: {resourceGroups: all}\n"),
			"ClusterQueue t: spec.resourceGroups is of the wrong type"},
		"an item of a list": {[]byte("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: one}}\n- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: two, namespace: team}, spec: {clusterQueue: 7}}\n"),
			"document 1, items[1]: LocalQueue team/two: spec.clusterQueue is of the wrong type"},
		"JSON cut": {[]byte(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node"`), "cut short"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := snapshot.Open(write(t, c.data))
			if err == nil || !strings.Contains(errs.Text(err, false), c.want) && !strings.Contains(strings.Join(strings.Fields(errs.Text(err, false)), " "), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if errs.ExitOf(err) != errs.Usage {
				t.Errorf("exit %d", errs.ExitOf(err))
			}
			if strings.Contains(errs.Text(err, false), "json:") || strings.Contains(errs.Text(err, false), "Go ") || strings.Contains(errs.Text(err, false), "strconv") || strings.Contains(errs.Text(err, false), "invalid character") {
				t.Errorf("raw text of a library: %s", errs.Text(err, false))
			}
		})
	}
	if _, err := snapshot.Open(filepath.Join(t.TempDir(), "none")); errs.ExitOf(err) != errs.NotFound {
		t.Errorf("no file: %v", err)
	}
	if _, err := snapshot.Open(t.TempDir()); errs.ExitOf(err) != errs.Usage || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory: %v", err)
	}
}

// TestLarge: as YAML a file is refused by its size, not parsed; a gzip that unfolds
// without end does not use up the memory.
func TestLarge(t *testing.T) {
	path := write(t, bytes.Repeat([]byte("a: b\n"), 4<<10))
	if _, err := snapshot.OpenWithin(path, 1<<20, 16<<10); errs.ExitOf(err) != errs.Usage || !strings.Contains(err.Error(), "too large (20 kB; at most 16 kB)") {
		t.Errorf("20 kB of YAML: %v", err)
	}
	var z bytes.Buffer
	w, _ := gzip.NewWriterLevel(&z, gzip.BestSpeed)
	_, _ = w.Write(make([]byte, 2<<20))
	_ = w.Close()
	if z.Len() > 64<<10 {
		t.Fatalf("the bomb has %d bytes", z.Len())
	}
	if _, err := snapshot.OpenWithin(write(t, z.Bytes()), 1<<20, 1<<10); errs.ExitOf(err) != errs.Usage || !strings.Contains(err.Error(), "more than 1 MB") {
		t.Errorf("a bomb: %v", err)
	}
	// What it says at its end is enough: nothing of it is unfolded.
	garbled := bytes.Clone(z.Bytes())
	copy(garbled[20:], "not what was compressed")
	if _, err := snapshot.OpenWithin(write(t, garbled), 1<<20, 1<<10); err == nil || !strings.Contains(err.Error(), "more than 1 MB") {
		t.Errorf("a bomb was read: %v", err)
	}
	if snapshot.MaxText != 1<<30 || snapshot.MaxPlainYAML != 64<<20 {
		t.Error("the limits that docs/snapshots.md states are others")
	}
}

// TestReformatted: jq changes the lines, not the meaning.
func TestReformatted(t *testing.T) {
	var good bytes.Buffer
	s := capture(t, fixture.Teams(5, "").Client(), snapshot.Options{})
	if err := s.Write(&good); err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, good.Bytes()); err != nil {
		t.Fatal(err)
	}
	got := open(t, write(t, compact.Bytes()))
	if got.Objects() != s.Objects() {
		t.Errorf("%d objects, not %d", got.Objects(), s.Objects())
	}
}

const scenario = `
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: a}
spec: {cohort: pool, resourceGroups: []}
---
# nothing here
---
apiVersion: v1
kind: List
items:
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: team}, spec: {clusterQueue: a}}
- {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: team}, data: {password: aHVudGVyMg==}}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Workload
  metadata: {name: w1, namespace: team}
  spec: {queueName: q, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, command: [hunter2], resources: {requests: {cpu: "1"}}}]}}}]}
---
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kueue-manager-config", "namespace": "kueue-system"},
 "data": {"controller_manager_config.yaml": "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {preemptionStrategies: []}\n"}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadList
items:
- metadata: {name: w2, namespace: team, creationTimestamp: "2026-01-02T12:00:00Z"}
  spec: {queueName: q, podSets: [{name: main, count: 1, template: {spec: {containers: []}}}]}
`

func TestPlainObjects(t *testing.T) {
	for name, data := range map[string][]byte{"YAML": []byte(scenario), "JSON": asJSON(t, scenario)} {
		s := open(t, write(t, data))
		if !s.Plain || !s.Info.Taken.Equal(fixture.Noon) {
			t.Errorf("%s: plain %v, taken %v", name, s.Plain, s.Info.Taken)
		}
		in := load(t, client(s))
		if len(in.Workloads) != 2 || in.Workloads[0].Name != "w1" || !in.Workloads[0].CreationTimestamp.Time.Before(fixture.Noon) {
			t.Errorf("%s: workloads %v", name, in.Workloads)
		}
		if q := in.ClusterQueue("a"); q == nil || q.Spec.CohortName != "pool" {
			t.Errorf("%s: queue %+v", name, q)
		}
		if !in.Rules().FairSharing {
			t.Errorf("%s: the configuration was not read: %+v", name, in.Rules())
		}
		if len(in.Namespaces) != 2 {
			t.Errorf("%s: namespaces %v", name, in.Namespaces)
		}
		if m := s.Lacks(); len(m) != 2 || m[0].Reason != snapshot.NotInFile {
			t.Errorf("%s: lacks %v", name, m)
		}
		if s.Count(kinds.Workload) != 2 || strings.Contains(text(t, s), "hunter2") {
			t.Errorf("%s: a command was kept", name)
		}
	}
}

func asJSON(t *testing.T, docs string) []byte {
	t.Helper()
	var out []byte
	for _, doc := range strings.Split(docs, "---\n") {
		js, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, js...), '\n')
	}
	return bytes.TrimPrefix(out, []byte("null\n"))
}

func text(t *testing.T, s *snapshot.Snapshot) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestEditedSnapshot: a snapshot that was changed by hand is refused for an invalid
// quantity, like a file of plain objects. Labels and texts may have any value.
func TestEditedSnapshot(t *testing.T) {
	var good bytes.Buffer
	if err := capture(t, fixture.Teams(5, "").Client(), snapshot.Options{}).Write(&good); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, by, want string }{
		"quota":     {`"nominalQuota":"960"`, `"nominalQuota":"abc"`, `ClusterQueue team-00: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota is "abc", want a quantity`},
		"request":   {`"requests":{"cpu":"8"`, `"requests":{"cpu":"8 cores"`, `.template.spec.containers[0].resources.requests.cpu is "8 cores"`},
		"the last":  {`"memory":"64Gi","nvidia.com/gpu":"4"}}]`, `"memory":"64Gi","nvidia.com/gpu":"four"}}]`, `nvidia.com/gpu is "four"`},
		"usage":     {`"resourceUsage":{"cpu":"8","memory":"64Gi"`, `"resourceUsage":{"cpu":"8","memory":"64GB"`, `resourceUsage.memory is "64GB"`},
		"node":      {`"allocatable":{"cpu":"190"`, `"allocatable":{"cpu":""`, `status.allocatable.cpu is ""`},
		"a number":  {`"nominalQuota":"960"`, `"nominalQuota":960`, ""},
		"a label":   {`"labels":{"kubernetes.io/metadata.name":`, `"labels":{"min":"no \" quantity","kubernetes.io/metadata.name":`, ""},
		"unchanged": {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good.String(), c.old, c.by, 1)
			if c.old != c.by && text == good.String() {
				t.Fatalf("there is no %s", c.old)
			}
			_, err := snapshot.Open(write(t, []byte(text)))
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || errs.ExitOf(err) != errs.Usage):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestSnapshotOfFile: what the file did not have is not reported as forbidden.
func TestSnapshotOfFile(t *testing.T) {
	s := capture(t, client(open(t, write(t, []byte(scenario)))), snapshot.Options{})
	lacks := s.Lacks()
	if len(lacks) == 0 {
		t.Fatal("it lacks nothing")
	}
	for _, m := range lacks {
		if m.Reason != snapshot.NotInFile {
			t.Errorf("%s: %s", m.Resource, m.Reason)
		}
	}
}
