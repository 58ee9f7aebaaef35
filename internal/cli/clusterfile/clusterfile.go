// Package clusterfile reads files that describe clusters, and words their faults.
package clusterfile

import (
	"context"
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/clusters/spec"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/clustertext"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Rules adds what this program knows about instance types.
func Rules(r spec.Rules) spec.Rules {
	r.Known = func(name string) bool { _, ok := instances.Lookup(name); return ok }
	return r
}

// Read reads and checks a file. Warnings go to stderr; faults are the error, which says
// what cannot be done.
func Read(ctx context.Context, f *factory.Factory, file, what string, r spec.Rules) (map[string]any, error) {
	data, err := f.ReadNamed(ctx, file)
	if err != nil {
		return nil, err
	}
	request, faults := spec.Parse(data, r)
	return request, Report(f, file, what, faults)
}

// Report prints the warnings among faults, and returns an error about the others.
func Report(f *factory.Factory, file, what string, faults []spec.Fault) error {
	var broken []spec.Fault
	unknown := false
	for _, x := range faults {
		if x.IsWarning() {
			f.Notef("warning: %s: %s", at(file, x), clustertext.Fault(x))
			continue
		}
		broken = append(broken, x)
		unknown = unknown || x.Kind == spec.UnknownMember || x.Kind == spec.UnknownWord
	}
	if len(broken) == 0 {
		return nil
	}
	e := errs.New(what, at(file, broken[0])+": "+clustertext.Fault(broken[0])).WithCode(errs.Usage)
	if len(broken) > 1 {
		e.Why = words.Count(len(broken), "fault", "faults")
		for _, x := range broken {
			e.WithFact(at(file, x), clustertext.Fault(x))
		}
	}
	if unknown {
		e.Suggest(errs.Option("--allow-unknown").WithNote("sends what this version does not know"))
	}
	return e
}

func at(file string, x spec.Fault) string { return fmt.Sprintf("%s:%d:%d", file, x.Line, x.Column) }

// Document is what commands that create or change a cluster print with -o json.
type Document struct {
	Cluster       string
	ClusterArn    string
	ClusterStatus string
}

// Print prints a request as the API takes it, in JSON unless -o names another format.
func Print(f *factory.Factory, request map[string]any) error {
	format := output.Format{Name: output.JSON}
	if f.Global.Output != "" {
		var err error
		if format, err = f.Format(); err != nil {
			return err
		}
	}
	return output.Print(f.IO, format, request, nil, func() []string { name, _ := request["ClusterName"].(string); return []string{name} })
}
