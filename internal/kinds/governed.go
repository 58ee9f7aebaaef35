package kinds

// Governed is a kind beside the job kinds whose objects are or make pods. Kueue reads
// the queue from the label of the object, or of the objects that QueueAt describes.
type Governed struct {
	Group, Kind string
	// Templates lead to the pod templates of the object.
	Templates [][]string
	// QueueAt leads to the template of the objects that Kueue queues instead of this one.
	QueueAt []string
	// Makes is the kind of those objects, nil where Kueue queues this one.
	Makes *Job
}

// JobOf returns the job that an object of the kind makes, with the name of the object, nil
// for kinds that make none. It shares maps with the object.
func (g Governed) JobOf(object map[string]any) map[string]any {
	template, _ := lookup(object, g.QueueAt).(map[string]any)
	if g.Makes == nil || template == nil {
		return nil
	}
	meta := map[string]any{"name": Text(object, "metadata", "name")}
	if ns := Text(object, "metadata", "namespace"); ns != "" {
		meta["namespace"] = ns
	}
	for _, key := range []string{"labels", "annotations"} {
		if m, ok := lookup(template, []string{"metadata", key}).(map[string]any); ok {
			meta[key] = m
		}
	}
	return map[string]any{"apiVersion": g.Makes.GroupVersion(), "kind": g.Makes.Kind, "metadata": meta, "spec": template["spec"]}
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
		{Group: "batch", Kind: "CronJob", Templates: [][]string{path("spec.jobTemplate.spec.template")}, QueueAt: path("spec.jobTemplate"), Makes: &BatchJob},
	}
}
