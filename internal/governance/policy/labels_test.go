package policy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An existing namespace keeps its labels unless the document asks for another enforcement than it has.
func TestLabelsOfNamespaces(t *testing.T) {
	full := map[string]string{labelManaged: "true", labelTeam: "a", labelActivate: Enabled}
	disabled := map[string]string{labelManaged: "true", labelTeam: "a", labelActivate: Disabled}
	for name, c := range map[string]struct {
		labels     map[string]string
		activation string
		noQueue    bool
		changes    bool
	}{
		"none, activation left out":                    {nil, "", false, false},
		"none, the team is new":                        {nil, "", true, true},
		"none, Enabled":                                {nil, Enabled, false, true},
		"none, Disabled":                               {nil, Disabled, false, true},
		"all, activation left out":                     {full, "", false, false},
		"all, the team is new":                         {full, "", true, false},
		"all, Enabled":                                 {full, Enabled, false, false},
		"all, Disabled":                                {full, Disabled, false, true},
		"disabled, activation left out":                {disabled, "", false, true},
		"disabled, Disabled":                           {disabled, Disabled, false, false},
		"only the activation, Disabled":                {map[string]string{labelActivate: Disabled}, Disabled, false, false},
		"without the activation, activation left out":  {map[string]string{labelManaged: "true", labelTeam: "a"}, "", false, false},
		"of another allocation, activation left out":   {map[string]string{labelManaged: "true", labelTeam: "b", labelActivate: Enabled}, "", false, false},
		"of another allocation, Enabled":               {map[string]string{labelManaged: "true", labelTeam: "b", labelActivate: Enabled}, Enabled, false, true},
		"not managed by the add-on, the rest left out": {map[string]string{labelManaged: "false"}, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			doc := &Document{Version: Version, Teams: []Team{{Team: "a", Activation: c.activation}}}
			want, err := ToKueue(doc, DefaultMapping())
			if err != nil {
				t.Fatal(err)
			}
			live := &Live{Objects: Objects{Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "hyperpod-ns-a", Labels: c.labels}}}}}
			if !c.noQueue {
				live.ClusterQueues, live.LocalQueues = want.ClusterQueues, want.LocalQueues
			}
			changed := false
			for _, op := range Differences(live, want, Prune{}) {
				if changed = changed || op.Kind == "Namespace"; op.Kind == "Namespace" && op.After.GetLabels()[labelActivate] != want.Namespaces[0].Labels[labelActivate] {
					t.Errorf("labels after the change: %v", op.After.GetLabels())
				}
			}
			if changed != c.changes {
				t.Errorf("changed: %v, want %v", changed, c.changes)
			}
			if c.noQueue {
				return
			}
			exported, _ := FromKueue(live, DefaultMapping())
			if want, err = ToKueue(exported, DefaultMapping()); err != nil {
				t.Fatal(err)
			}
			if ops := Differences(live, want, Prune{}); len(ops) > 0 {
				t.Errorf("a plan of the exported document changes %+v", ops)
			}
		})
	}
}
