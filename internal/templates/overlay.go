package templates

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
)

// clusterScoped are kinds without a namespace that manifests bring along.
var clusterScoped = map[string]bool{"Namespace": true, "PersistentVolume": true, "ClusterRole": true, "ClusterRoleBinding": true,
	"StorageClass": true, "PriorityClass": true, "CustomResourceDefinition": true, "Node": true}

// layObjects lays over what concerns every object: the namespace and the labels
// that the admission policy asks for.
func (s *settings) layObjects(objects []map[string]any) {
	for _, o := range objects {
		switch meta := jobobject.Child(o, "metadata"); {
		case s.Namespace != "" && !clusterScoped[manifest.TextOf(o["kind"])]:
			meta["namespace"] = s.Namespace
		case isNamespaceParam(manifest.TextOf(meta["namespace"])):
			delete(meta, "namespace") // nobody says it, so it is the cluster's to say
		}
		if jobobject.Pods(o) {
			jobobject.InjectLabels(o, s.queueLabels())
		}
	}
}

func isNamespaceParam(text string) bool {
	m, alone := manifest.Place{}.Whole(text)
	c, _ := canonical(m.Name)
	return alone && c == pNamespace
}

// layJob lays the values over the job.
func (s *settings) layJob(t *Template, j *jobobject.View) error {
	meta := jobobject.Child(j.Object, "metadata")
	if s.Name != "" {
		delete(meta, "generateName")
	}
	if old := manifest.TextOf(meta["name"]); s.Name != "" && old != s.Name {
		meta["name"] = s.Name
		delete(meta, "generateName")
		s.noteOldName(j, old)
	}
	jobobject.InjectLabels(j.Object, s.Labels)
	jobobject.MergeText(meta, "annotations", s.Annotations)
	if _, said := s.Annotations[kinds.TemplateAnnotation]; !said {
		jobobject.MergeText(meta, "annotations", map[string]string{kinds.TemplateAnnotation: t.Name})
	}
	if s.nodes.lay {
		if err := j.SetNodes(s.nodes.n); err != nil {
			return err
		}
		s.layElastic(j)
	}
	if s.tasks.lay {
		j.SetTasks(s.tasks.n)
	}
	if err := s.layLaunch(t, j); err != nil {
		return err
	}
	if err := s.layBounds(j); err != nil {
		return err
	}
	for _, r := range j.Roles() {
		s.layPod(t, r)
	}
	if err := s.layRunPolicy(j); err != nil {
		return err
	}
	return s.layRestart(j, meta)
}

// layPod lays the values over the pods of one role.
func (s *settings) layPod(t *Template, r jobobject.Role) {
	pod := r.Pod()
	if context, ok := pod["securityContext"].(map[string]any); ok && len(context) == 0 {
		delete(pod, "securityContext") // it held only parameters that nobody gave
	}
	if s.ServiceAccount != "" {
		pod["serviceAccountName"] = s.ServiceAccount
	}
	if s.PodPriorityClass != "" {
		pod["priorityClassName"] = s.PodPriorityClass
	}
	s.layNodes(r)
	s.layTolerations(pod)
	c := jobobject.Container(pod)
	if c == nil {
		return
	}
	if s.Image != "" {
		c["image"] = s.Image
	}
	if s.PullPolicy != "" {
		c["imagePullPolicy"] = s.PullPolicy
	}
	layEnvironment(c, s.Environment, true)
	layEnvironment(c, s.fabric(), false)
	s.laySecretEnv(c)
	s.layVolumes(pod, c)
	if !r.Trains {
		return
	}
	s.layResources(c)
	s.layTopology(r)
	s.layRank(c)
	if s.ResultsDir != "" && !t.uses(pResults) {
		layEnvironment(c, map[string]string{resultsVariable: s.ResultsDir}, true)
	}
}

func (s *settings) layVolumes(pod, c map[string]any) {
	var before []string
	for _, m := range jobobject.MapsIn(c["volumeMounts"]) {
		before = append(before, manifest.TextOf(m["name"]))
	}
	for _, v := range s.Volumes {
		v.apply(pod, c)
	}
	if len(s.Volumes) > 0 {
		dropUnmounted(pod, before)
	}
}

// layElastic widens an elastic policy that does not allow the number of nodes.
func (s *settings) layElastic(j *jobobject.View) {
	policy := jobobject.Inner(j.Object, "spec", "elasticPolicy")
	if policy == nil {
		return
	}
	n := s.nodes.n
	for _, bound := range []struct {
		key   string
		wrong func(int) bool
	}{{"minReplicas", func(v int) bool { return v > n }}, {"maxReplicas", func(v int) bool { return v < n }}} {
		if v, ok := manifest.Count(policy[bound.key]); ok && bound.wrong(v) {
			policy[bound.key] = int64(n)
			s.notef("spec.elasticPolicy.%s was %d, now %d as the number of nodes", bound.key, v, n)
		}
	}
}

// layRestart lays over what happens after a failure.
func (s *settings) layRestart(j *jobobject.View, meta map[string]any) error {
	if s.MaxRetry != nil && *s.MaxRetry < 0 {
		return errs.Usagef("--max-retry is %d, want at least 0", *s.MaxRetry)
	}
	switch {
	case j.IsKind(kinds.HyperPodPyTorchJob):
		s.restartPods(j)
		switch {
		case s.MaxRetry != nil:
			jobobject.Child(j.Spec(), "runPolicy")["jobMaxRetryCount"] = int64(*s.MaxRetry)
		case s.AutoResume && jobobject.Inner(j.Object, "spec", "runPolicy")["jobMaxRetryCount"] == nil:
			jobobject.Child(j.Spec(), "runPolicy")["jobMaxRetryCount"] = int64(1)
		}
		return nil
	case j.IsKind(kinds.BatchJob):
		if s.AutoResume {
			return errs.Usagef("--auto-resume works with PyTorchJobs, not with a batch Job").WithTry("--max-retry N   # becomes the Job's backoffLimit")
		}
		s.restartPods(j)
		for _, r := range j.Roles() {
			if r.Pod()["restartPolicy"] == nil {
				r.Pod()["restartPolicy"] = "Never" // a Job must state one
			}
		}
		if s.MaxRetry != nil {
			j.Spec()["backoffLimit"] = int64(*s.MaxRetry)
		}
		return nil
	case j.Kind.Group != kinds.PyTorchJob.Group:
		if s.AutoResume || s.MaxRetry != nil || s.RestartPolicy != "" {
			return errs.Usagef("--restart-policy, --auto-resume and --max-retry cannot be laid over a %s", j.Kind.Kind)
		}
		return nil
	}
	return s.restartReplicas(j, meta)
}

// restartPods sets the policy of pods that have their own.
func (s *settings) restartPods(j *jobobject.View) {
	if s.RestartPolicy == "" {
		return
	}
	for _, r := range j.Roles() {
		r.Pod()["restartPolicy"] = s.RestartPolicy
	}
}

// restartReplicas sets the policy of Kubeflow's roles, and the annotations.
func (s *settings) restartReplicas(j *jobobject.View, meta map[string]any) error {
	enabled := s.AutoResume || manifest.TextOf(jobobject.Inner(meta, "annotations")[kinds.AutoResumeAnnotation]) == "true"
	if s.MaxRetry != nil && !enabled {
		return errs.Usagef("--max-retry counts automatic resumes, and --auto-resume is not on").WithTry("--auto-resume")
	}
	for _, r := range j.Roles() {
		policy := s.RestartPolicy
		if policy == "" && s.AutoResume && r.Part["restartPolicy"] == nil {
			policy = "OnFailure"
		}
		if policy != "" {
			r.Part["restartPolicy"] = policy
			delete(r.Pod(), "restartPolicy") // the operator goes by the role's
		}
	}
	if !enabled {
		return nil
	}
	retries := 1
	if s.MaxRetry != nil {
		retries = *s.MaxRetry
	} else if n, ok := manifest.Count(jobobject.Inner(meta, "annotations")[kinds.MaxRetryAnnotation]); ok {
		retries = n
	}
	if s.AutoResume || s.MaxRetry != nil {
		jobobject.MergeText(meta, "annotations", map[string]string{kinds.AutoResumeAnnotation: "true", kinds.MaxRetryAnnotation: strconv.Itoa(retries)})
	}
	if ns := manifest.TextOf(meta["namespace"]); s.Namespace != "" {
		s.noteResumeNamespace(s.Namespace)
	} else if ns != "" {
		s.noteResumeNamespace(ns)
	}
	if s.AutoResume && !j.IsKind(kinds.PyTorchJob) {
		s.notef("HyperPod promises automatic resume for PyTorchJobs, this is a %s", j.Kind.Kind)
	}
	return nil
}

// noteResumeNamespace tells of namespaces that HyperPod's automatic resume does
// not look at, by its documentation.
func (s *settings) noteResumeNamespace(ns string) {
	if ns != "kubeflow" && !strings.HasPrefix(ns, "hyperpod") {
		s.notef("HyperPod resumes jobs in namespaces named kubeflow or hyperpod..., not in %s", ns)
	}
}

// noteOldName tells of text that still has the name the manifest had.
func (s *settings) noteOldName(j *jobobject.View, old string) {
	if old == "" {
		return
	}
	for _, suffix := range []string{"-worker-", "-master-", "-launcher"} {
		manifest.Visit(manifest.FromPlain(j.Object), manifest.Place{}, func(n *manifest.Node, at manifest.Place) {
			if at.Script && containsName(n.Str(), old+suffix) {
				s.notef("%s still says %s…, the job is named %s now", at.Path, old+suffix, s.Name)
			}
		})
	}
}

func containsName(text, name string) bool {
	for i := 0; i+len(name) <= len(text); i++ {
		if text[i:i+len(name)] == name && (i == 0 || !isNameByte(text[i-1])) {
			return true
		}
	}
	return false
}

func isNameByte(b byte) bool {
	return b == '-' || b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// setPaths carries out --set of paths, each against the fields of the object's
// kind.
func (s *settings) setPaths(object map[string]any) error {
	for _, a := range s.paths {
		v, err := a.parsed()
		if err != nil {
			return err
		}
		var set any
		if v != nil {
			set = marked(v)
		}
		before := manifest.FromPlain(object)
		if err := assign(object, a.Key, set); err != nil {
			return err
		}
		r := &schema.Report{}
		schema.Check(manifest.FromPlain(object), r, true)
		if len(r.Faults) > 0 {
			why := errors.Join(r.Faults...)
			if strings.HasPrefix(why.Error(), a.Key+" ") {
				return errs.Usagef("--set %v", why).WithCause(why)
			}
			e := errs.Usagef("--set %s: %v", a.Key, why).WithCause(why)
			if near := schema.NearPaths(before, a.Key); len(near) > 0 && !strings.Contains(why.Error(), "did you mean") {
				e.WithFact("fields like it", strings.Join(near, ", "))
			}
			return e
		}
	}
	return nil
}

// marked is the value of a --set in an object, with its text. The field's type
// decides what becomes of it: --set metadata.labels.run=7 is text, replicas=7 a
// number.
func marked(n *manifest.Node) any {
	switch n.Kind {
	case manifest.MapNode:
		m := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
			m[f.Key] = marked(f.Value)
		}
		return m
	case manifest.ListNode:
		l := make([]any, len(n.Items))
		for i, item := range n.Items {
			l[i] = marked(item)
		}
		return l
	}
	if n.Value == nil {
		return nil
	}
	return manifest.Written{Value: n.Value, Text: n.Text}
}

// jobLevel names a value that only a job can take, "" when none is set.
func (s *settings) jobLevel() string {
	v := s.Values
	for _, said := range []struct {
		flag string
		set  bool
	}{
		{"--image", v.Image != ""}, {"--instance-type", v.InstanceType != ""}, {"--node-count", v.NodeCount != nil},
		{"--tasks-per-node", v.TasksPerNode != nil}, {"--accelerators", v.Accelerators != nil}, {"--command", v.Command != ""},
		{"--entry-script", v.EntryScript != ""}, {"--script-args", len(v.ScriptArgs) > 0}, {"--environment", len(v.Environment) > 0},
		{"--volumes", len(v.Volumes) > 0}, {"--restart-policy", v.RestartPolicy != ""}, {"--auto-resume", v.AutoResume},
	} {
		if said.set {
			return said.flag
		}
	}
	return ""
}

// queueLabels are the labels that Kueue goes by.
func (s *settings) queueLabels() map[string]string {
	out := map[string]string{}
	if s.Queue != "" {
		out[kinds.QueueLabel] = s.Queue
	}
	if s.Priority != "" {
		out[kinds.PriorityLabel] = s.Priority
	}
	return out
}

// noteSizes tells of objects that a cluster hardly takes.
func (s *settings) noteSizes(objects []map[string]any) {
	for _, o := range objects {
		if data, err := json.Marshal(o); err == nil && len(data) > manifest.MaxObject {
			s.notef("%s %s has %.1f MiB, and Kubernetes takes objects of up to %.1f MiB", manifest.TextOf(o["kind"]), manifest.Clip(manifest.TextOf(jobobject.Inner(o, "metadata")["name"])),
				float64(len(data))/(1<<20), float64(manifest.MaxObject)/(1<<20))
		}
	}
}
