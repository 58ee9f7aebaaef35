package kinds

import "strconv"

// LeaderWorkerSet serves with groups of a leader and its workers (v1). Kueue makes a
// Workload of each group.
var LeaderWorkerSet = Job{
	Resource: Resource{Group: "leaderworkerset.x-k8s.io", Version: "v1", Plural: "leaderworkersets", Kind: "LeaderWorkerSet", Namespaced: true, Short: []string{"lws"}},
	PodLabel: "leaderworkerset.sigs.k8s.io/name",
	Roles: []Role{
		{Path: path("spec"), Name: "leader", Replicas: path("replicas"), Template: path("leaderWorkerTemplate.leaderTemplate")},
		{Path: path("spec"), Name: "worker", Replicas: path("replicas"), Times: path("leaderWorkerTemplate.size"),
			LessOne: path("leaderWorkerTemplate.leaderTemplate"), Template: path("leaderWorkerTemplate.workerTemplate")},
	},
	Columns: func() []Column {
		return []Column{{Name: "Ready", At: path("status.readyReplicas")}, {Name: "Desired", At: path("spec.replicas")}, {Name: "Up-to-date", At: path("status.updatedReplicas")}}
	},
	ChecksTopology: true,
	Serves:         true,
	Scales:         true,
	Operator:       "LeaderWorkerSet controller",
	Style:          Described,
	Status:         Status{Ready: path("status.readyReplicas"), Wanted: path("spec.replicas")},
	GroupsAt:       path("spec.replicas"),
	RestartPolicy:  "Always",
	Numbers: Numbers{Unranked: true, Place: func(labels map[string]string, roles map[string]int64) (string, int) {
		group, inner := index(labels[lwsGroupLabel]), index(labels[lwsWorkerLabel])
		_, leads := roles["leader"]
		switch {
		case group < 0 || inner < 0:
			return "", -1
		case leads && inner == 0:
			return "leader", group
		case leads:
			return "worker", group*int(roles["worker"]/max(1, roles["leader"])) + inner - 1
		}
		return "worker", -1 // how many pods a group has is on no label
	}},
	Made: func(p Planned) (string, map[string]string) {
		groups, ok := Number(p.Object, path("spec.replicas"))
		if !ok {
			groups = 1
		}
		each := max(1, p.Part.Replicas/max(1, groups))
		group, inner := p.Index/each, p.Index%each
		if p.Part.Name == "worker" && At(p.Object, "spec", "leaderWorkerTemplate", "leaderTemplate") != nil {
			inner++ // the leader is the first
		}
		name := p.Name + "-" + strconv.FormatInt(group, 10)
		if inner > 0 {
			name += "-" + strconv.FormatInt(inner, 10)
		}
		return name, map[string]string{lwsGroupLabel: strconv.FormatInt(group, 10), lwsWorkerLabel: strconv.FormatInt(inner, 10)}
	},
}

const (
	lwsGroupLabel  = "leaderworkerset.sigs.k8s.io/group-index"
	lwsWorkerLabel = "leaderworkerset.sigs.k8s.io/worker-index"
)
