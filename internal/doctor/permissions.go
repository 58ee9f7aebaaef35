package doctor

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/permissions"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// question asks the API server for one permission.
type question struct {
	verb, group, resource string
	cluster               bool
}

// text returns the question as kubectl auth can-i takes it.
func (q question) text() string {
	name, sub, ok := strings.Cut(q.resource, "/")
	if q.group != "" {
		name += "." + q.group
	}
	if ok {
		name += "/" + sub
	}
	if q.cluster {
		return q.verb + " " + name + " (all namespaces)"
	}
	return q.verb + " " + name
}

// questions returns the questions behind permissions.
func questions(list []permissions.Permission) (out []question) {
	for _, r := range list {
		for _, verb := range r.Verbs {
			out = append(out, question{verb, r.Group, r.Resource, r.Cluster})
		}
	}
	return out
}

// examinePermissions finds the namespace and asks for every permission of every command there.
func examinePermissions(ctx context.Context, s Subject, f *findings) {
	namespace, err := s.Namespace(ctx)
	if err != nil {
		f.add(nil, Diagnosis{Code: Namespace, Status: Warn, Reason: Failed, Err: err, Suggest: anyNamespace},
			Diagnosis{Code: Permissions, Status: Skipped, Reason: None}, Diagnosis{Code: Services, Status: Skipped, Reason: None})
		return
	}
	f.add(func(d *Document) { d.Namespace = namespace }, Diagnosis{Code: Namespace, Status: OK, Names: []string{namespace}})
	answers, err := review(ctx, s, namespace)
	if err != nil {
		f.add(nil, failed(Permissions, err), failed(Services, err))
		return
	}
	commands := commandPermissionsOf(func(q question) bool { return answers.granted[q] }, readsOwnQueue(ctx, s, namespace))
	d := Diagnosis{Code: Permissions, Status: OK, Of: len(commands)}
	for _, c := range commands {
		if !c.Allowed {
			d.Names = append(d.Names, c.Command)
		}
	}
	if d.Count = len(d.Names); d.Count > 0 {
		d.Status, d.Reason = Warn, Incomplete
	}
	f.add(func(doc *Document) { doc.CommandPermissions = commands }, d, services(func(q question) bool { return answers.granted[q] }))
}

// readsOwnQueue reports whether the ClusterQueue that task governance makes for the team of a namespace can be read.
func readsOwnQueue(ctx context.Context, s Subject, namespace string) bool {
	team := discovery.TeamOf(namespace, nil)
	if team == "" {
		return false
	}
	at, err := reader.Served(ctx, s.Client, kinds.ClusterQueue)
	if err != nil {
		return false
	}
	var queue struct{}
	return s.Client.Get(ctx, at, "", discovery.ManagedClusterQueue(team), &queue) == nil
}

// services returns whether the user can create Deployments and Services. Most teams need none of it, so only a part of the
// permissions is a warning.
func services(granted func(question) bool) Diagnosis {
	missing := refused(permissions.Services(), granted)
	d := Diagnosis{Code: Services, Status: OK, Of: len(questions(permissions.Services())), Count: len(missing)}
	if d.Count > 0 && d.Count < d.Of {
		d.Status, d.Reason, d.Names = Warn, Incomplete, missing
	}
	return d
}

// answers are the permissions that the server has granted.
type answers struct {
	mu      sync.Mutex
	granted map[question]bool
	err     error
}

// review asks all questions side by side; the client limits how many are under way.
func review(ctx context.Context, s Subject, namespace string) (*answers, error) {
	a := &answers{granted: map[question]bool{}}
	all := questions(permissions.Services())
	for _, c := range permissions.Commands() {
		all = append(all, questions(slices.Concat(c.Needs, c.Optional))...)
	}
	var wg crash.Group
	seen := map[question]bool{}
	for _, q := range all {
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

// commandPermissionsOf returns which commands the granted questions allow. Job kinds are alternatives: a command
// works with those kinds whose verbs are all granted, and needs one of them. ownQueue reports that the team's ClusterQueue can
// be read by its name.
func commandPermissionsOf(granted func(question) bool, ownQueue bool) []CommandPermissions {
	out := []CommandPermissions{}
	for _, c := range permissions.Commands() {
		p := CommandPermissions{Command: c.Name, MissingPermissions: []string{}, HiddenWithout: refused(c.Optional, granted)}
		var kinds []permissions.Permission
		one := false
		for _, need := range c.Needs {
			missing := refused([]permissions.Permission{need}, granted)
			if ownQueue && slices.ContainsFunc(c.Queue, func(p permissions.Permission) bool { return p.Group == need.Group && p.Resource == need.Resource }) {
				for _, text := range missing {
					if !slices.Contains(p.HiddenWithout, text) {
						p.HiddenWithout = append(p.HiddenWithout, text)
					}
				}
				continue
			}
			if !need.OfJobKind() {
				p.MissingPermissions = append(p.MissingPermissions, missing...)
				continue
			}
			kinds = append(kinds, need)
			one = one || len(missing) == 0
		}
		if one {
			p.HiddenWithout = append(refused(kinds, granted), p.HiddenWithout...)
		} else {
			p.MissingPermissions = append(refused(kinds, granted), p.MissingPermissions...)
		}
		p.Allowed = len(p.MissingPermissions) == 0
		out = append(out, p)
	}
	return out
}

// refused returns the questions behind permissions that are not granted, as text.
func refused(list []permissions.Permission, granted func(question) bool) []string {
	out := []string{}
	for _, q := range questions(list) {
		if !granted(q) {
			out = append(out, q.text())
		}
	}
	return out
}
