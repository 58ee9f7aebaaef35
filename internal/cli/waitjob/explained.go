package waitjob

import (
	"context"

	"github.com/hyperpod-cli/hyperpod/internal/cli/explainjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/present/explanation"
)

// explained returns a function that asks the admission checker about the job.
func explained(f *factory.Factory, c *factory.Cluster, r wait.Request) func(context.Context) (string, []string, error) {
	return func(ctx context.Context) (string, []string, error) {
		object := map[string]any{}
		if err := c.Get(ctx, r.Kind.Resource, r.Namespace, r.Name, &object); err != nil {
			return "", nil, err
		}
		e, err := explainjob.Explain(ctx, &explainjob.Options{Factory: f}, c, findjob.Job{Kind: r.Kind, Namespace: r.Namespace, Object: object})
		if err != nil {
			return "", nil, err
		}
		why := explanation.Obstacle(e)
		if why == "" {
			return "", nil, nil
		}
		return "warning: " + r.Name + " " + why + "; still waiting", append(explanation.FirstCommands(e), f.Line(errs.Run("explain-job", r.Name, "-n", r.Namespace))), nil
	}
}
