package overlay

import (
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// applyRestart sets what happens after a failure.
func (s *job) applyRestart(j *jobobject.View, meta map[string]any) error {
	if s.MaxRetry != nil && *s.MaxRetry < 0 {
		return setting.MaxRetry.OutOfRange(*s.MaxRetry, 0, 0)
	}
	switch restart := j.Kind.Launch().Restart; {
	case restart.Where == kinds.OfRole:
		return s.restartReplicas(j, meta)
	case restart.Where == kinds.OfPods && s.AutoResume && !restart.Resumes:
		return setting.NotFor(j.Kind.Kind, setting.AutoResume).Suggest(setting.MaxRetry.Option("N").WithNote("sets the " + restart.Retries[len(restart.Retries)-1]))
	case restart.Where == kinds.OfPods:
		s.restartPods(j)
		switch {
		case s.MaxRetry != nil:
			j.SetRetries(*s.MaxRetry)
		case s.AutoResume && kinds.At(j.Object, restart.Retries...) == nil:
			j.SetRetries(1)
		}
	case s.AutoResume || s.MaxRetry != nil || s.RestartPolicy != "":
		return setting.NotFor(j.Kind.Kind, setting.RestartPolicy, setting.AutoResume, setting.MaxRetry)
	}
	return nil
}

// restartPods sets the policy of pods that have their own.
func (s *job) restartPods(j *jobobject.View) {
	must := j.Kind.Launch().Restart.Default
	for _, r := range j.Roles() {
		switch pod := r.Pod(); {
		case s.RestartPolicy != "":
			pod["restartPolicy"] = s.RestartPolicy
		case must != "" && pod["restartPolicy"] == nil:
			pod["restartPolicy"] = must
			if s.Own() {
				s.Notef("restartPolicy not set: the pods of the %s get %s", j.Kind.Kind, must)
			}
		}
	}
}

// restartReplicas sets the policy of Kubeflow's roles, and the annotations.
func (s *job) restartReplicas(j *jobobject.View, meta map[string]any) error {
	enabled := s.AutoResume || manifest.TextOf(jobobject.Inner(meta, "annotations")[kinds.AutoResumeAnnotation]) == "true"
	if s.MaxRetry != nil && !enabled {
		return setting.MaxRetry.Requires(setting.AutoResume).Suggest(setting.AutoResume.Option())
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
	if s.AutoResume && !j.Kind.Launch().Restart.Resumes {
		s.Notef("HyperPod supports automatic resume for PyTorchJobs only; this is %s", words.WithArticle(j.Kind.Kind))
	}
	return nil
}

// noteResumeNamespace notes a namespace in which HyperPod's automatic resume has no effect, according to its
// documentation.
func (s *job) noteResumeNamespace(ns string) {
	if ns != "kubeflow" && !strings.HasPrefix(ns, "hyperpod") {
		s.Notef("HyperPod resumes jobs only in namespaces named kubeflow or hyperpod...; this one is %s", ns)
	}
}
