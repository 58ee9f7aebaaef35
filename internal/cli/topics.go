package cli

import "github.com/spf13/cobra"

// helpTopics returns the help pages that are not about a command.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{
			Use:   "exit-codes",
			Short: "Exit codes and their meanings",
			Long: `    0  success
    1  the command failed
    2  the command line, or a file that it names, is invalid
    3  the answer is no: the job failed, or can never run
    4  not signed in, or permission denied
    5  not found
    8  still pending
  124  a wait timed out
  130  interrupted: Ctrl-C, SIGTERM or SIGHUP`,
		},
		{
			Use:   "environment",
			Short: "Environment variables",
			Long: `Clusters:
  KUBECONFIG            kubeconfig files, as for kubectl
  HYPERPOD_SANDBOX      sandbox to use (1: the default sandbox)
  HYPERPOD_SNAPSHOT     snapshot to use, read-only

Settings:
  HYPERPOD_CONFIG       configuration file (default hyperpod/config.yaml in the
                        configuration directory)

  These variables override the settings of the configuration file, which
  "hyperpod config set" writes:

  HYPERPOD_COLOR        HYPERPOD_NAMESPACE         HYPERPOD_SANDBOX_DIRECTORY
  HYPERPOD_CONFIRM      HYPERPOD_OUTPUT            HYPERPOD_SCHEDULER
  HYPERPOD_CONTEXT      HYPERPOD_QUIET             HYPERPOD_TEMPLATES_DIRECTORY
  HYPERPOD_DEFAULT_TEMPLATE                        HYPERPOD_REQUEST_TIMEOUT

  The setting confirm says when start-job prompts on a terminal: always (before
  it preempts jobs, and for a job that can never run), preempt (only before it
  preempts jobs), or never.

Terminal and folders:
  NO_COLOR              disable color and all other escape sequences
  XDG_CONFIG_HOME       base directory for configuration
  XDG_STATE_HOME        base directory for sandboxes
  XDG_CACHE_HOME        base directory for caches`,
		},
	}
}
