package doctor

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/permissions"
)

// right is one question to the API server.
type right struct {
	verb, group, resource string
	cluster               bool
}

// text is the question as kubectl auth can-i takes it.
func (r right) text() string {
	name, sub, ok := strings.Cut(r.resource, "/")
	if r.group != "" {
		name += "." + r.group
	}
	if ok {
		name += "/" + sub
	}
	if r.cluster {
		return r.verb + " " + name + " (all namespaces)"
	}
	return r.verb + " " + name
}

// asked returns the questions behind a list of rights.
func asked(list []permissions.Permission) (out []right) {
	for _, r := range list {
		for _, verb := range r.Verbs {
			out = append(out, right{verb, r.Group, r.Resource, r.Cluster})
		}
	}
	return out
}

// examinePermissions finds the namespace and asks for every permission of every command there.
func examinePermissions(ctx context.Context, s Subject, f *findings) {
	namespace, err := s.Namespace(ctx)
	if err != nil {
		f.add(nil, Diagnosis{Code: Namespace, Status: Warn, Reason: Failed, Err: err, Suggest: anyNamespace},
			Diagnosis{Code: Permissions, Status: Skipped, Reason: None})
		return
	}
	f.add(func(d *Document) { d.Namespace = namespace }, Diagnosis{Code: Namespace, Status: OK, Names: []string{namespace}})
	answers, err := review(ctx, s, namespace)
	if err != nil {
		f.add(nil, failed(Permissions, err))
		return
	}
	commands := CommandRightsOf(answers.allowed)
	d := Diagnosis{Code: Permissions, Status: OK, Of: len(commands)}
	for _, c := range commands {
		if !c.Allowed {
			d.Names = append(d.Names, c.Command)
		}
	}
	if d.Count = len(d.Names); d.Count > 0 {
		d.Status, d.Reason = Warn, Incomplete
	}
	f.add(func(doc *Document) { doc.CommandPermissions = commands }, d)
}

// answers are the permissions that the server has granted.
type answers struct {
	mu      sync.Mutex
	granted map[right]bool
	err     error
}

func (a *answers) allowed(r right) bool { return a.granted[r] }

// review asks all questions side by side; the client limits how many are under way.
func review(ctx context.Context, s Subject, namespace string) (*answers, error) {
	a := &answers{granted: map[right]bool{}}
	var questions []right
	for _, c := range permissions.Commands() {
		questions = append(questions, asked(slices.Concat(c.Needs, c.Optional))...)
	}
	var wg crash.Group
	seen := map[right]bool{}
	for _, q := range questions {
		if seen[q] {
			continue
		}
		seen[q] = true
		wg.Go(func() {
			in := namespace
			if q.cluster {
				in = ""
			}
			plural, sub, _ := strings.Cut(q.resource, "/")
			ok, err := s.Client.CanI(ctx, q.verb, kinds.Resource{Group: q.group, Plural: plural}, in, sub)
			a.mu.Lock()
			defer a.mu.Unlock()
			if err != nil && a.err == nil {
				a.err = err
			}
			a.granted[q] = ok
		})
	}
	wg.Wait()
	return a, a.err
}

// CommandRightsOf returns what each command may do, given which questions are granted.
func CommandRightsOf(allowed func(right) bool) []CommandRights {
	out := []CommandRights{}
	for _, c := range permissions.Commands() {
		r := CommandRights{Command: c.Name, MissingPermissions: []string{}, HiddenWithout: []string{}}
		for _, q := range asked(c.Needs) {
			if !allowed(q) {
				r.MissingPermissions = append(r.MissingPermissions, q.text())
			}
		}
		for _, q := range asked(c.Optional) {
			if !allowed(q) {
				r.HiddenWithout = append(r.HiddenWithout, q.text())
			}
		}
		r.Allowed = len(r.MissingPermissions) == 0
		out = append(out, r)
	}
	return out
}
