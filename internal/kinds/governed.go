package kinds

// Governed is a kind beside the job kinds whose objects are or make pods. Kueue reads
// the queue from the label of the object, or of the objects that QueueAt describes.
type Governed struct {
	Group, Kind string
	// Templates lead to the pod templates of the object.
	Templates [][]string
	// QueueAt leads to the template of the objects that Kueue queues instead of this one.
	QueueAt []string
}

// GovernedFor returns what is known of a kind of object that is not a job kind. Sources:
// Kueue's integrations (pkg/controller/jobs, v0.19) and the kinds' API types.
func GovernedFor(group, kind string) (Governed, bool) {
	for _, g := range governed() {
		if g.Group == group && g.Kind == kind {
			return g, true
		}
	}
	return Governed{}, false
}

func governed() []Governed {
	template := [][]string{path("spec.template")}
	return []Governed{
		{Kind: "ReplicationController", Templates: template},
		{Group: "apps", Kind: "ReplicaSet", Templates: template},
		{Group: "apps", Kind: "DaemonSet", Templates: template},
		{Group: "batch", Kind: "CronJob", Templates: [][]string{path("spec.jobTemplate.spec.template")}, QueueAt: path("spec.jobTemplate")},
		{Group: "sparkoperator.k8s.io", Kind: "SparkApplication"},
	}
}
