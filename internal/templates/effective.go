package templates

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// settings is what a rendering works with: the values, completed from
// parameters, the manifest and the instance type.
type settings struct {
	Values
	given map[string]any // parameters that were given, typed
	paths []Assignment   // --set of paths

	name    string
	command []string // the program that starts the training, as words
	args    []string // the script's arguments
	nodes   int
	tasks   int

	typ      instances.Type // the zero value when no type is known
	hasType  bool
	resource string // the accelerators' resource name
	devices  int    // accelerators for each pod
	efa      int
	// sized: the values speak of size, so that the resources that the manifest does
	// not state are filled in.
	sized       bool
	devicesSaid bool // by a flag or parameter, not only by the type

	notices []string
}

func (s *settings) notef(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(s.notices, n) {
		s.notices = append(s.notices, n)
	}
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
	for _, name := range sortedKeys(v.Params) {
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
			return nil, nil, t.unknown(a.Key)
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

func (t *Template) unknown(name string) error {
	names := append([]string{}, t.mentioned...)
	for _, p := range t.Params {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	e := errs.Usagef("template %s has no parameter %q%s", t.Name, name, meant(errs.Near(name, names)))
	var own []string
	for _, p := range t.Params {
		own = append(own, p.Name)
	}
	if len(own) > 0 {
		e.WithFact("it has", strings.Join(own, ", "))
	}
	return e
}

// base returns what is said about a well-known parameter before anything is
// computed: given by name, else by the flag's value, else the template's default.
// Both given and different is an error.
func (t *Template) base(s *settings, name string, flagged any) (any, error) {
	flagged = normal(flagged)
	var byDefault any
	for _, p := range t.Params {
		if c, ok := canonical(p.Name); !ok || c != name {
			continue
		}
		if g, ok := s.given[p.Name]; ok {
			if flagged != nil && textOf(flagged) != textOf(g) && name != pInstanceType {
				return nil, errs.Usagef("%s says %s and parameter %s says %s", flagFor(name), quoteText(textOf(flagged)), p.Name, quoteText(textOf(g))).
					WithTry("give it once")
			}
			return g, nil
		}
		if flagged != nil {
			v, err := p.convert(flagged)
			if err != nil {
				return nil, errs.Usagef("%s: %v", flagFor(name), err)
			}
			return v, nil
		}
		if byDefault == nil {
			byDefault = p.Default
		}
	}
	if flagged != nil {
		return flagged, nil
	}
	return byDefault, nil
}

// pointer turns an unsaid number into nil.
func pointer(n *int) any {
	if n == nil {
		return nil
	}
	return int64(*n)
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// baseCount is base for a count; positive says that zero is wrong.
func (t *Template) baseCount(s *settings, name string, flagged *int, least int) (int, bool, error) {
	v, err := t.base(s, name, pointer(flagged))
	if err != nil || v == nil || v == "" {
		return 0, false, err
	}
	n, ok := count(v)
	if !ok {
		return 0, false, errs.Usagef("%s is %s, want a whole number", flagFor(name), quoteText(textOf(v)))
	}
	if n < least || n > 1_000_000 {
		return 0, false, errs.Usagef("%s is %d, want at least %d", flagFor(name), n, least)
	}
	return n, true, nil
}

func (t *Template) baseText(s *settings, name, flagged string) (string, error) {
	v, err := t.base(s, name, orNil(flagged))
	return textOf(v), err
}

// settings completes the values. job is the manifest's job with what is known so
// far filled in, nil when there is none.
func (t *Template) settings(v Values, job *jobView) (*settings, error) {
	s := &settings{Values: v}
	var err error
	if s.given, s.paths, err = t.splitSet(v); err != nil {
		return nil, err
	}
	for _, said := range []struct {
		name string
		dst  *string
	}{{pJobName, &s.Name}, {pNamespace, &s.Namespace}, {pImage, &s.Image}, {pInstanceType, &s.InstanceType}, {pEntryScript, &s.EntryScript}} {
		if *said.dst, err = t.baseText(s, said.name, *said.dst); err != nil {
			return nil, err
		}
	}
	if err := t.findCommand(s); err != nil {
		return nil, err
	}
	if s.name = s.Name; s.name == "" && job != nil {
		s.name = textOf(inner(job.object, "metadata")["name"])
		if len(placeholderNames(s.name)) > 0 {
			s.name = ""
		}
	}
	if err := s.findType(); err != nil {
		return nil, err
	}
	nodes, said, err := t.baseCount(s, pNodeCount, v.NodeCount, 1)
	if err != nil {
		return nil, err
	}
	if said {
		s.NodeCount = &nodes
	} else if nodes = 1; job != nil {
		nodes = job.nodes()
	}
	s.nodes = nodes
	if err := t.countDevices(s, job); err != nil {
		return nil, err
	}
	return s, nil
}

// findType looks the instance type up. The cluster's own nodes win over the
// table, and make a type usable that the table does not have.
func (s *settings) findType() error {
	if s.InstanceType == "" {
		return nil
	}
	typ, ok := instances.Lookup(s.InstanceType)
	if !ok && s.Node == nil {
		return errs.Usagef("unknown instance type %q%s", s.InstanceType, meant(instances.Near(s.InstanceType))).
			WithTry("--instance-type TYPE with a type of the cluster's nodes")
	}
	s.InstanceType = instances.Full(s.InstanceType)
	s.typ, s.hasType = typ, true
	s.typ.Name = s.InstanceType
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
		if s.typ.Resource != instances.GPU {
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
