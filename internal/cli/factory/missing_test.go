package factory

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestMissing: a line for each reason. A part that is missing does not count as the whole.
func TestMissing(t *testing.T) {
	of := func(r kinds.Resource, reason, verb, namespace string, partly bool) state.Missing {
		return state.Missing{Resource: r, Reason: reason, Verb: verb, Namespace: namespace, Partly: partly, Err: errors.New("it broke")}
	}
	for _, c := range []struct {
		name          string
		missing       []state.Missing
		rows, figures string // of Missing and of MissingFigures
	}{
		{"nothing", nil, "", ""},
		{"not served", []state.Missing{of(kinds.Workload, state.NotServed, "list", "", false)}, "", ""},
		{"failed", []state.Missing{of(kinds.Workload, state.Failed, "list", "", false)}, "", ""},
		{"a file without a kind", []state.Missing{of(kinds.Workload, state.NotInFile, "list", "", false), of(kinds.Node, state.NotInFile, "list", "", false)},
			"note: the list is incomplete: the file has no nodes, workloads\n",
			"note: some values are unknown (?): the file has no nodes, workloads\n"},
		{"a file of one namespace", []state.Missing{of(kinds.Node, state.NotInFile, "list", "", false), of(kinds.Workload, state.NotInFile, "list", "", true)},
			"note: the list is incomplete: the file has no nodes, no workloads of other namespaces\n",
			"note: some values are unknown (?): the file has no nodes, no workloads of other namespaces\n"},
		{"a file of one namespace, of others asked one by one", []state.Missing{of(kinds.Workload, state.NotInFile, "list", "", true), of(kinds.Workload, state.NotInFile, "list", "other", false)},
			"note: the list is incomplete: the file has no workloads of other namespaces\n",
			"note: some values are unknown (?): the file has no workloads of other namespaces\n"},
		{"a file without the namespace", []state.Missing{of(kinds.Workload, state.NotInFile, "list", "ns", false)},
			"note: the list is incomplete: the file has no workloads of namespace ns\n",
			"note: some values are unknown (?): the file has no workloads of namespace ns\n"},
		{"a member", []state.Missing{of(kinds.Workload, state.Forbidden, "list", "", true), of(kinds.Node, state.Forbidden, "list", "", false)},
			"note: only your namespaces are shown: no permission to list in all namespaces\nnote: nodes are hidden: no permission to list them\n",
			"note: some values are hidden (?): you need permission to list nodes, workloads in the whole cluster\n"},
		{"a namespace that may not be read", []state.Missing{of(kinds.Workload, state.Forbidden, "list", "ns", false)},
			"note: workloads are hidden: no permission to list them in ns\n",
			"note: some values are hidden (?): you need permission to list workloads in the whole cluster\n"},
		{"watching", []state.Missing{of(kinds.Node, state.Forbidden, "watch", "", false)},
			"note: nodes are hidden: no permission to list them\n",
			"note: some values are hidden (?): you need permission to list and watch nodes in the whole cluster\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			io, b := output.Test()
			f := &Factory{IO: io}
			f.Missing(c.missing)
			if got := b.Err.String(); got != c.rows {
				t.Errorf("Missing:\n%swant\n%s", got, c.rows)
			}
			b.Err.Reset()
			f.MissingOf("plan", c.missing)
			if got, want := b.Err.String(), strings.ReplaceAll(c.rows, "the list is", "the plan is"); got != want {
				t.Errorf("MissingOf:\n%swant\n%s", got, want)
			}
			b.Err.Reset()
			f.MissingFigures(c.missing)
			if got := b.Err.String(); got != c.figures {
				t.Errorf("MissingFigures:\n%swant\n%s", got, c.figures)
			}
		})
	}
}

// TestFailures: each failure is reported once, and never as success or absence.
func TestFailures(t *testing.T) {
	failed := func(err error) state.Missing {
		return state.Missing{Resource: kinds.Node, Reason: state.Failed, Err: err}
	}
	refused := state.Missing{Resource: kinds.Node, Reason: state.Forbidden, Err: errors.New("forbidden")}
	if err := Failures([]state.Missing{refused}); err != nil {
		t.Errorf("a refusal: %v", err)
	}
	err := Failures([]state.Missing{refused, failed(errors.New("one")), failed(errors.New("one")), failed(errs.NotFoundf("two"))})
	if all := errs.Each(err); len(all) != 2 || errs.ExitOf(all[0]) != errs.Failure || errs.ExitOf(all[1]) != errs.Failure {
		t.Errorf("%v", err)
	}
}

// TestManyNamespaces: what is missing in 1,000 namespaces takes a few lines.
func TestManyNamespaces(t *testing.T) {
	var forbidden, inFile, failed []state.Missing
	for i := range 1000 {
		ns := fmt.Sprintf("ns-%03d", i)
		forbidden = append(forbidden, state.Missing{Resource: kinds.Workload, Reason: state.Forbidden, Verb: "list", Namespace: ns})
		inFile = append(inFile, state.Missing{Resource: kinds.Workload, Reason: state.NotInFile, Verb: "list", Namespace: ns})
		failed = append(failed, state.Missing{Resource: kinds.Workload, Reason: state.Failed, Namespace: ns, Err: errs.New("cannot list workloads in "+ns, "it broke")})
	}
	io, b := output.Test()
	f := &Factory{IO: io}
	f.Missing(forbidden)
	f.Missing(inFile)
	if got := b.Err.String(); len(got) > 600 || !strings.Contains(got, "ns-007 and 992 more\n") || !strings.Contains(got, "no workloads of namespace ns-005 and 994 more\n") {
		t.Errorf("%d bytes: %.700s", len(got), got)
	}
	each := errs.Each(Failures(failed))
	if len(each) != mostFailures+1 || each[mostFailures].Error() != "995 more reads failed" {
		t.Error(len(each), each)
	}
}
