package templates

import (
	"errors"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// jobFault is what is wrong with a finished job, and the field that it is about.
type jobFault struct {
	path string
	err  *errs.Error
}

func (f *jobFault) Error() string { return f.err.Error() }
func (f *jobFault) Unwrap() error { return f.err }

// jobFaults are all that is wrong with a job.
type jobFaults struct {
	kind  string
	found []*jobFault
}

func (f *jobFaults) add(path string, err *errs.Error) {
	f.found = append(f.found, &jobFault{path, err})
}

// err is the one fault, or an error that lists them all; nil when there are none.
func (f *jobFaults) err() error {
	switch len(f.found) {
	case 0:
		return nil
	case 1:
		return f.found[0]
	}
	e := errs.Usagef("this %s has %d faults", f.kind, len(f.found))
	causes := make([]error, len(f.found))
	for i, one := range f.found {
		causes[i] = one
		e.WithFact("fault", one.Error())
		e.WithTry(one.err.Try...)
	}
	return e.WithCause(errors.Join(causes...))
}

// located is a fault of the finished job at the line of the manifest that states the
// field, or what is nearest above it.
func (t *Template) located(f *jobFault) Fault {
	out := Fault{Message: f.Error()}
	steps, err := parsePath(f.path)
	if err != nil {
		return out
	}
	n := t.jobNode()
	for _, s := range steps {
		if s.list {
			if s.index >= len(n.Items) {
				break
			}
			n = n.Items[s.index]
			out.Line, out.Column = n.Line, n.Column
			continue
		}
		next := n.Get(s.key)
		if next == nil {
			break
		}
		for _, fl := range n.Fields {
			if fl.Key == s.key {
				out.Line, out.Column = fl.Line, fl.Column
			}
		}
		n = next
	}
	return out
}
