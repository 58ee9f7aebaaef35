package policy

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"
)

// liveOf reads the objects of YAML documents.
func liveOf(t *testing.T, data []byte) *Live {
	t.Helper()
	l := &Live{FairSharing: ptr.To(true)}
	for _, doc := range bytes.Split(data, []byte("\n---\n")) {
		var head struct{ Kind string }
		if err := yaml.Unmarshal(doc, &head); err != nil {
			t.Fatal(err)
		}
		read := func(into any) {
			if err := yaml.UnmarshalStrict(doc, into); err != nil {
				t.Fatalf("%s: %v", head.Kind, err)
			}
		}
		switch head.Kind {
		case "Namespace":
			o := &corev1.Namespace{}
			read(o)
			l.Namespaces = append(l.Namespaces, o)
		case "WorkloadPriorityClass":
			o := &kueue.WorkloadPriorityClass{}
			read(o)
			l.Classes = append(l.Classes, o)
		case "ResourceFlavor":
			o := &kueue.ResourceFlavor{}
			read(o)
			l.Flavors = append(l.Flavors, o)
		case "Cohort":
			o := &kueue.Cohort{}
			read(o)
			l.Cohorts = append(l.Cohorts, o)
		case "ClusterQueue":
			o := &kueue.ClusterQueue{}
			read(o)
			l.ClusterQueues = append(l.ClusterQueues, o)
		case "LocalQueue":
			o := &kueue.LocalQueue{}
			read(o)
			l.LocalQueues = append(l.LocalQueues, o)
		}
	}
	return l
}

// live returns each practice cluster and the hand-made ones of testdata.
func lives(t *testing.T) map[string]*Live {
	t.Helper()
	files, err := filepath.Glob("../../sandbox/scenarios/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("scenarios: %v, %v", files, err)
	}
	more, err := filepath.Glob("testdata/live/*.yaml")
	if err != nil || len(more) == 0 {
		t.Fatalf("testdata: %v, %v", more, err)
	}
	out := map[string]*Live{}
	for _, f := range append(files, more...) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".yaml")] = liveOf(t, data)
	}
	return out
}

// TestExportPlansToNothing: the document of a cluster changes nothing on it, also after it
// was written and read again.
func TestExportPlansToNothing(t *testing.T) {
	for name, l := range lives(t) {
		t.Run(name, func(t *testing.T) {
			doc, notes := FromKueue(l, DefaultMapping())
			text, err := Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			again, at, faults := Parse(text)
			if len(faults) > 0 {
				t.Fatalf("%+v\n%s", faults, text)
			}
			if diff := cmp.Diff(doc, again); diff != "" {
				t.Errorf("written and read again (-before +after):\n%s", diff)
			}
			for _, f := range Check(again, at, Facts{}) {
				if f.Level == LevelError {
					t.Errorf("%+v", f)
				}
			}
			want, err := ToKueue(again, DefaultMapping())
			if err != nil {
				t.Fatal(err)
			}
			if ops := Differences(l, want, Prune{}); len(ops) > 0 {
				t.Errorf("operations: %+v\n%s", ops, text)
			}
			if changes := Diff(doc, again, true); len(changes) > 0 {
				t.Errorf("changes: %+v", changes)
			}
			if strings.HasPrefix(name, "hand") != slices.ContainsFunc(notes, func(n Note) bool { return n.Code == BeyondTerms }) {
				t.Errorf("notes: %+v\n%s", notes, text)
			}
		})
	}
}

// Faults of a text do not hide its other mistakes. Findings that follow from a fault are left out.
func TestFaultsDoNotHideMistakes(t *testing.T) {
	const start = "version: hyperpod.policy/v1\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"two unknown words and a weight": {
			"policy: {fairShare: On}\nteams:\n- {team: a, strategy: Share, fairShareWeight: 101, quota: [{instanceType: ml.p5.48xlarge, count: 1}]}\n",
			[]string{"fault policy.fairShare", "fault teams[0].strategy", "E028 teams[0].fairShareWeight"}},
		"a number that is a text": {
			"teams:\n- {team: A_b, quota: [{instanceType: ml.p5.48xlarge, count: many}]}\n",
			[]string{"fault teams[0].quota[0].count", "E029 teams[0].team"}},
		"an unknown field": {
			"teams:\n- {team: A_b, tema: x, quota: [{instanceType: ml.p5.48xlarge, count: 1}]}\n",
			[]string{"fault teams[0].tema", "E029 teams[0].team"}},
		"not YAML": {"teams: [\n", []string{"fault "}},
	} {
		t.Run(name, func(t *testing.T) {
			doc, at, faults := ParsePart([]byte(start + c.text))
			var got []string
			for _, f := range faults {
				got = append(got, "fault "+f.Path)
			}
			if doc != nil {
				for _, x := range Beside(Check(doc, at, Facts{}), faults) {
					if x.Level == LevelError {
						got = append(got, x.Code+" "+x.Path)
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A document that was not parsed may have words that its fields do not know.
func TestUnknownWords(t *testing.T) {
	d := &Document{Policy: &ClusterPolicy{FairShare: "On"}, Teams: []Team{{Team: "a", Strategy: "Lend"}, {Team: "b", Strategy: "lend", Activation: "x"}}}
	var got []string
	for _, f := range Unknown(d) {
		got = append(got, f.Path)
	}
	if diff := cmp.Diff([]string{"policy.fairShare", "teams[1].strategy", "teams[1].activation"}, got); diff != "" {
		t.Error(diff)
	}
}
