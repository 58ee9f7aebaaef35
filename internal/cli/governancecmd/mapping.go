package governancecmd

import (
	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

// mappingFlags choose how terms become Kueue objects where the service's way is not
// documented.
type mappingFlags struct{ cohort, ownCohort, round string }

func newMapping() mappingFlags {
	m := policy.DefaultMapping()
	return mappingFlags{m.Cohort, m.OwnCohort, m.Round}
}

func (m *mappingFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&m.cohort, "cohort", m.cohort, "cohort of the teams that share quota")
	fs.StringVar(&m.ownCohort, "own-cohort-prefix", m.ownCohort, "prefix of the cohort of a team with strategy DontLend")
	factory.AddChoice(cmd, &m.round, factory.Choice{Name: "round", Usage: "how to round a percentage to whole devices: Down, Up or Nearest",
		Words: []string{policy.Down, policy.Up, policy.Nearest}})
}

func (m *mappingFlags) mapping() policy.Mapping {
	return policy.Mapping{Cohort: m.cohort, OwnCohort: m.ownCohort, Round: m.round}
}

// mappingArgs returns the flags that choose a mapping, for suggested commands.
func mappingArgs(m policy.Mapping) []string {
	var args []string
	usual := policy.DefaultMapping()
	for _, flag := range []struct{ name, value, usual string }{
		{"--cohort", m.Cohort, usual.Cohort}, {"--own-cohort-prefix", m.OwnCohort, usual.OwnCohort}, {"--round", m.Round, usual.Round},
	} {
		if flag.value != flag.usual {
			args = append(args, flag.name, flag.value)
		}
	}
	return args
}
