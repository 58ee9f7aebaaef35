package templates

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// settings is what a rendering works with: the values as they were said, and
// what they, the parameters, the manifest and the instance type come to.
type settings struct {
	Values
	given map[string]any // parameters that were given, typed
	paths []Assignment   // --set of paths

	name    string
	command []string // the program that starts the training, as words
	args    []string // the script's arguments

	nodes, tasks, devices, efa amount

	rdzv Rendezvous
	// ranked: the launching command uses the rank of the pod's node.
	ranked bool

	instanceType string
	typ          instances.Type // the zero value when no type is known
	hasType      bool
	resource     string // what the accelerators are counted in
	// sized: something speaks of the pods' size, so that resources which the
	// manifest does not state are filled in.
	sized bool

	notices []string
}

// amount is a number of a job. known: a flag, a parameter, the manifest or the
// instance type says it, it is no mere fallback. lay: it is laid over the
// manifest. A parameter that the manifest has a placeholder for is not, as the
// placeholder takes it where the manifest's author wants it.
type amount struct {
	n     int
	known bool
	lay   bool
}

func (s *settings) notef(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(s.notices, n) {
		s.notices = append(s.notices, n)
	}
}

// settings completes the values. job is the manifest's job with what was given
// and the defaults filled in, nil when there is none.
func (t *Template) settings(v Values, job *jobobject.View) (*settings, error) {
	s := &settings{Values: v, name: v.Name}
	var err error
	if s.given, s.paths, err = t.splitSet(v); err != nil {
		return nil, err
	}
	if err := t.conflicts(s); err != nil {
		return nil, err
	}
	if err := t.checkFixedParams(s); err != nil {
		return nil, err
	}
	if s.name == "" && job != nil {
		if s.name = manifest.TextOf(jobobject.Inner(job.Object, "metadata")["name"]); manifest.Unfilled(s.name) {
			s.name = ""
		}
	}
	if s.instanceType = v.InstanceType; s.instanceType == "" && t.declares(pInstanceType) {
		said, _ := t.said(s, pInstanceType)
		s.instanceType = manifest.TextOf(said)
	}
	if err := s.findType(); err != nil {
		return nil, err
	}
	if err := t.findCommand(s); err != nil {
		return nil, err
	}
	if s.nodes, err = t.amount(s, pNodeCount, v.NodeCount, 1); err != nil {
		return nil, err
	}
	if job != nil && v.NodeCount == nil {
		if n, states := job.States(); states && !s.nodes.lay {
			s.nodes = amount{n: n, known: true}
		}
	}
	s.nodes.n = max(s.nodes.n, 1)
	if err := t.meetingPoint(s, job); err != nil {
		return nil, err
	}
	if err := t.countDevices(s, job); err != nil {
		return nil, err
	}
	return s, nil
}

// splitSet divides --set into parameters and paths, and types the parameters.
func (t *Template) splitSet(v Values) (given map[string]any, paths []Assignment, err error) {
	given = map[string]any{}
	put := func(name string, value any) error {
		p, ok := t.Param(name)
		if !ok {
			p = Param{Name: name}
		}
		typed, err := p.convert(value)
		if err != nil {
			return errs.Usagef("parameter %s: %v", name, err)
		}
		given[name] = typed
		return nil
	}
	for _, name := range manifest.SortedKeys(v.Params) {
		if !t.knows(name) {
			return nil, nil, t.unknown(name)
		}
		if err := put(name, v.Params[name]); err != nil {
			return nil, nil, err
		}
	}
	for _, a := range v.Set {
		switch {
		case t.knows(a.Key):
			if err := put(a.Key, a.Value); err != nil {
				return nil, nil, err
			}
		case !strings.ContainsAny(a.Key, `.["`):
			return nil, nil, t.unknownSet(a)
		default:
			paths = append(paths, a)
		}
	}
	return given, paths, nil
}

// knows tells whether a name is a parameter: declared, found, or mentioned in a
// script.
func (t *Template) knows(name string) bool {
	_, ok := t.Param(name)
	return ok || slices.Contains(t.mentioned, name)
}

func (t *Template) unknown(name string) *errs.Error {
	names := append([]string{}, t.mentioned...)
	var own []string
	for _, p := range t.Params {
		names, own = append(names, p.Name), append(own, p.Name)
	}
	slices.Sort(names)
	e := errs.Usagef("%s has no parameter %s%s", t.called(), manifest.QuoteText(name), manifest.Meant(errs.Near(name, slices.Compact(names))))
	if len(own) > 0 {
		e.WithFact("it has", strings.Join(own, ", "))
	} else {
		e.WithFact("it has", "no parameters")
	}
	return e
}

// conflicts finds numbers that a flag and a parameter give differently.
func (t *Template) conflicts(s *settings) error {
	for _, f := range []struct {
		name string
		flag *int
	}{{pNodeCount, s.NodeCount}, {pTasks, s.TasksPerNode}, {pAccelerators, s.Accelerators}, {pEFA, s.EFA}} {
		for _, p := range t.Params {
			c, ok := canonical(p.Name)
			g, given := s.given[p.Name]
			if ok && c == f.name && given && f.flag != nil && manifest.TextOf(g) != fmt.Sprint(*f.flag) {
				return errs.Usagef("%s says %d and parameter %s says %s", p.Flag, *f.flag, p.Name, manifest.AsTyped(g)).WithAdvice("give it once")
			}
		}
	}
	return nil
}

// said returns what parameters, not flags, say about a well-known parameter:
// given by any of its names, else the template's default. used tells whether
// the manifest has a placeholder for it.
func (t *Template) said(s *settings, name string) (value any, used bool) {
	for _, p := range t.Params {
		if c, ok := canonical(p.Name); !ok || c != name {
			continue
		}
		if g, ok := s.given[p.Name]; ok {
			return g, t.uses(name)
		}
		if value == nil {
			value = p.value()
		}
	}
	return value, t.uses(name)
}

// declares tells whether the header names a well-known parameter. A placeholder
// that is only found takes its value and means nothing more, as in any other tool
// that replaces variables.
func (t *Template) declares(name string) bool {
	return slices.ContainsFunc(t.Params, func(p Param) bool { c, ok := canonical(p.Name); return ok && c == name && p.Declared })
}

// amount reads a number from its flag or else from its parameter.
func (t *Template) amount(s *settings, name string, flag *int, least int) (amount, error) {
	a := amount{known: true, lay: true}
	if flag != nil {
		a.n = *flag
	} else {
		v, used := t.said(s, name)
		if v == nil || v == "" {
			return amount{}, nil
		}
		n, ok := manifest.Count(v)
		if !ok {
			return a, errs.Usagef("%s is %s, want a whole number", flagFor(name), manifest.QuoteText(manifest.TextOf(v)))
		}
		a.n, a.lay = n, !used
	}
	if a.n < least || a.n > 1_000_000 {
		return a, errs.Usagef("%s is %d, want at least %d", flagFor(name), a.n, least)
	}
	return a, nil
}

// findType looks the instance type up. The cluster's own nodes win over the
// table, and make a type usable that the table does not have.
func (s *settings) findType() error {
	if s.instanceType == "" || manifest.Unfilled(s.instanceType) {
		s.instanceType = ""
		return nil
	}
	typ, ok := instances.Lookup(s.instanceType)
	if !ok && s.Node == nil {
		near := instances.Near(s.instanceType)
		e := errs.Usagef("unknown instance type %s%s", manifest.QuoteText(s.instanceType), manifest.Meant(near))
		for _, name := range near[:min(len(near), 1)] {
			e.WithTry("--instance-type " + name)
		}
		return e.WithTry("hyperpod list-instance-types   # shows those that are known, and those of the cluster's nodes")
	}
	s.instanceType = instances.Full(s.instanceType)
	s.typ, s.hasType = typ, true
	s.typ.Name = s.instanceType
	if s.Node == nil {
		return nil
	}
	for _, r := range []string{instances.GPU, instances.NeuronDevice, instances.Neuron} {
		if n := s.offers(r); n > 0 {
			s.typ.Resource, s.typ.Accelerators = r, int(n)
			break
		}
	}
	if s.typ.Cores == 0 && s.typ.Accelerators > 0 {
		s.typ.Cores = 1
		if neuron(s.typ.Resource) {
			s.typ.Cores = 2
		}
	}
	if !ok || s.offers(instances.EFA) > 0 {
		s.typ.EFA = int(s.offers(instances.EFA))
	}
	if !ok {
		s.typ.VCPU, s.typ.MemoryGiB = int(s.offers("cpu")), int(s.offers("memory")>>30)
	}
	return nil
}

// offers returns a quantity of the cluster's own nodes, rounded down.
func (s *settings) offers(name string) int64 {
	if s.Node == nil {
		return 0
	}
	q, err := resource.ParseQuantity(s.Node.Allocatable[name])
	if err != nil {
		return 0
	}
	return q.MilliValue() / 1000
}
