package kinds

// OddJob is a kind that no cluster has. Its fields have other names than those of all kinds.
var OddJob = Job{
	Resource:    Resource{Group: "odd.example.com", Version: "v1", Plural: "oddjobs", Kind: "OddJob", Namespaced: true, Short: []string{"odd"}},
	PodLabel:    "odd.example.com/name",
	SuspendPath: path("spec.paused"),
	Roles:       []Role{{Path: path("spec.crews.*"), NameKey: "crew", Replicas: path("size"), Template: path("pods")}},
	Operator:    "odd operator",
	Style:       Described,
	Status: Status{Word: path("status.mood"), Words: map[Phase][]string{Running: {"busy"}, Succeeded: {"done"}, Failed: {"broken"}},
		Since: path("status.began"), Ended: path("status.over"), Message: path("status.note")},
	Numbers: Numbers{Role: "odd.example.com/crew", Index: "odd.example.com/number"},
	Made: func(p Planned) (string, map[string]string) {
		role, number := p.numbered()
		return p.Name + "-" + role + "-" + number, map[string]string{"odd.example.com/crew": role, "odd.example.com/number": number}
	},
}
