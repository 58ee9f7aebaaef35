package factory

import (
	"errors"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestMissing: a line for each reason, in which a part that is missing is not said
// to be all of it.
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
		{"failed", []state.Missing{of(kinds.Workload, state.Failed, "list", "", false)}, "warning: it broke\n", "warning: it broke\n"},
		{"a file without a kind", []state.Missing{of(kinds.Workload, state.NotInFile, "list", "", false), of(kinds.Node, state.NotInFile, "list", "", false)},
			"note: not shown, as the file has no nodes, workloads\n",
			"note: shown is what the file has, and ? where that is not enough: it has no nodes, workloads\n"},
		{"a file of one namespace", []state.Missing{of(kinds.Node, state.NotInFile, "list", "", false), of(kinds.Workload, state.NotInFile, "list", "", true)},
			"note: not shown, as the file has no nodes, and of other namespaces no workloads\n",
			"note: shown is what the file has, and ? where that is not enough: it has no nodes, and of other namespaces no workloads\n"},
		{"a file of one namespace, of others asked one by one", []state.Missing{of(kinds.Workload, state.NotInFile, "list", "", true), of(kinds.Workload, state.NotInFile, "list", "other", false)},
			"note: not shown, as the file has of other namespaces no workloads\n",
			"note: shown is what the file has, and ? where that is not enough: it has of other namespaces no workloads\n"},
		{"a file without the namespace", []state.Missing{of(kinds.Workload, state.NotInFile, "list", "ns", false)},
			"note: not shown, as the file has of namespace ns no workloads\n",
			"note: shown is what the file has, and ? where that is not enough: it has of namespace ns no workloads\n"},
		{"a member", []state.Missing{of(kinds.Workload, state.Forbidden, "list", "", true), of(kinds.Node, state.Forbidden, "list", "", false)},
			"note: only namespaces that you may work in are shown: you have no right to list in all of them\nnote: not shown, for want of the right to list them: nodes\n",
			"note: shown is what you may read, and ? where that is not enough: the right to list nodes, workloads in the whole cluster would show the rest\n"},
		{"a namespace that may not be read", []state.Missing{of(kinds.Workload, state.Forbidden, "list", "ns", false)},
			"note: not shown, for want of the right to list them: workloads (in ns)\n",
			"note: shown is what you may read, and ? where that is not enough: the right to list workloads in the whole cluster would show the rest\n"},
		{"watching", []state.Missing{of(kinds.Node, state.Forbidden, "watch", "", false)},
			"note: not shown, for want of the right to list them: nodes\n",
			"note: shown is what you may read, and ? where that is not enough: the right to list and watch nodes in the whole cluster would show the rest\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			io, b := output.Test()
			f := &Factory{IO: io}
			f.Missing(c.missing)
			if got := b.Err.String(); got != c.rows {
				t.Errorf("Missing:\n%swant\n%s", got, c.rows)
			}
			b.Err.Reset()
			f.MissingFigures(c.missing)
			if got := b.Err.String(); got != c.figures {
				t.Errorf("MissingFigures:\n%swant\n%s", got, c.figures)
			}
		})
	}
}
