package control

import (
	"context"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// Kinds without a suspend field: a scheduling gate keeps their pods from starting until Kueue admits them. A
// Pod's workload is its own or its group's, a StatefulSet's holds all its pods, and a Deployment has
// none: each of its pods is a job.

// acts reports whether the sandbox's controllers look at an object. Without a queue,
// Deployments and the like are only stored, and pods are as their makers have them.
func acts(j job) bool {
	if j.kind.Itself {
		return j.o.Labels[kinds.ManagedLabel] == "true"
	}
	return len(j.kind.SuspendPath) > 0 || j.governed()
}

// takeBack makes the pods of a kind without a suspend field wait again. Kueue deletes a running pod, and one of a group,
// because these cannot wait.
func (s *sim) takeBack(j job, why string) job {
	if j.held {
		return j
	}
	if _, grouped := j.grouped(); grouped || j.kind.Itself && object.Text(j.m(), "spec", "nodeName") != "" {
		s.event(j.o, "Normal", "Stopped", why)
		s.st.Collect(kinds.Pod.FullName(), j.o)
	}
	j.held = true
	return j
}

// admitted returns a job's object as its pods see it: with the node labels and tolerations of the
// flavors of its workload, where no template of the object has them.
func (s *sim) admitted(ctx context.Context, j job) (map[string]any, error) {
	if len(j.kind.SuspendPath) > 0 || !j.queued() {
		return j.m(), nil
	}
	wl, err := typedWorkload(s.workloadOf(j))
	if err != nil || wl == nil || wl.Status.Admission == nil {
		return j.m(), err
	}
	e, err := s.admission(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := integration.StartJob(ctx, j.o.Raw, wl, e.Lookup())
	if err != nil {
		return j.m(), nil // the scheduler reports it
	}
	return decodeMap([]byte(raw))
}

// describedStatus writes the status of a kind by its description.
func (s *sim) describedStatus(j job, m map[string]any, t tally) {
	d := j.kind.Status
	if len(d.Word)+len(d.True) > 0 {
		word := ""
		switch {
		case j.suspended():
			word = d.Waits
		case t.ready():
			word = first(d.Words[kinds.Running])
		default:
			word = first(d.Words[kinds.Starting])
		}
		setText(m, word, d.Word)
		for _, name := range d.True {
			value := "False"
			if name == word {
				value = "True"
			}
			s.condition(object.Child(m, "status"), name, value, name, "")
		}
	}
	if d.While != "" {
		value := "False"
		if !j.suspended() && t.ready() {
			value = "True"
		}
		s.condition(object.Child(m, "status"), d.While, value, d.While, "")
	}
	if len(d.Since) > 0 && !j.suspended() && kinds.Text(m, d.Since...) == "" {
		setText(m, object.Stamp(s.now), d.Since)
	}
	if at := j.kind.PodLabelFrom; len(at) > 0 && !j.suspended() {
		for _, p := range s.podsOf(j) { // what its operator made for the pods
			setText(m, p.Labels[j.kind.PodLabel], at)
		}
	}
	if at := j.kind.SelectorText; len(at) > 0 {
		for _, p := range s.podsOf(j) {
			for key, v := range p.Labels {
				if v == j.o.Name {
					setText(m, key+"="+v, at)
				}
			}
		}
	}
	if len(d.Ready) == 0 {
		return
	}
	units, given := kinds.Number(m, d.Wanted)
	if !given {
		units = 1
	}
	var ready int64
	if t.all.wanted > 0 {
		ready = t.all.running * units / t.all.wanted
	}
	object.Set(m, ready, d.Ready...)
	object.Set(m, units, append(slices.Clone(d.Ready[:len(d.Ready)-1]), "replicas")...)
}

func (s *sim) describedFinished(m map[string]any, j job, result string) string {
	d := j.kind.Status
	setText(m, first(d.Words[kinds.Phase(result)]), d.Word)
	setText(m, object.Stamp(s.now), d.Ended)
	return j.kind.Kind + " " + j.o.Name + " " + result
}

func setText(m map[string]any, text string, path []string) {
	if len(path) > 0 {
		object.Set(m, text, path...)
	}
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
