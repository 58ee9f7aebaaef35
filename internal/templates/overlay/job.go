package overlay

import (
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// applyJob applies the values to the job.
func (s *job) applyJob(j *jobobject.View) error {
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
	if _, set := s.Annotations[kinds.TemplateAnnotation]; !set {
		jobobject.MergeText(meta, "annotations", map[string]string{kinds.TemplateAnnotation: s.Template.Name})
	}
	if s.Nodes.Apply {
		if err := j.SetNodes(s.Nodes.N); err != nil {
			return err
		}
		s.applyElastic(j)
	}
	if s.Tasks.Apply {
		j.SetTasks(s.Tasks.N)
	}
	if err := s.applyLaunch(j); err != nil {
		return err
	}
	if err := s.applyBounds(j); err != nil {
		return err
	}
	for _, r := range j.Roles() {
		s.applyPod(r)
	}
	if err := s.applyRunPolicy(j); err != nil {
		return err
	}
	return s.applyRestart(j, meta)
}

// applyPod applies the values to the pods of one role.
func (s *job) applyPod(r jobobject.Role) {
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
	c := jobobject.Container(pod)
	if s.Own() {
		before := stated(pod, c)
		defer func() { s.noteChanges(before, stated(pod, c)) }()
	}
	s.applyNodes(r)
	s.applyTolerations(pod)
	if c == nil {
		return
	}
	if s.Image != "" && !s.imageHasPlaceholder(r, c) {
		c["image"] = s.Image
	}
	if s.PullPolicy != "" {
		c["imagePullPolicy"] = s.PullPolicy
	}
	applyEnvironment(c, s.Environment, true)
	applyEnvironment(c, s.FabricEnvironment(), false)
	s.applySecretEnv(c)
	s.applyVolumes(pod, c)
	if !r.Trains {
		return
	}
	s.applyResources(c)
	s.applyTopology(r)
	s.applyRank(c)
	if s.ResultsDir != "" && !s.Template.Uses(setting.ResultsDir) {
		applyEnvironment(c, map[string]string{setting.ResultsVariable: s.ResultsDir}, true)
	}
}

// applyElastic widens an elastic policy that does not allow the number of nodes.
func (s *job) applyElastic(j *jobobject.View) {
	policy := jobobject.Inner(j.Object, "spec", "elasticPolicy")
	if policy == nil {
		return
	}
	n := s.Nodes.N
	for _, bound := range []struct {
		key   string
		wrong func(int) bool
	}{{"minReplicas", func(v int) bool { return v > n }}, {"maxReplicas", func(v int) bool { return v < n }}} {
		if v, ok := manifest.Count(policy[bound.key]); ok && bound.wrong(v) {
			policy[bound.key] = int64(n)
			s.Notef("set spec.elasticPolicy.%s from %d to %d, the number of nodes", bound.key, v, n)
		}
	}
}
