package cli

import "github.com/spf13/cobra"

// helpTopics are pages of help that are no commands.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{
			Use:   "exit-codes",
			Short: "Exit codes and what they mean",
			Long: `    0  done
    1  the command failed
    2  the command line, or a file it names, cannot be used
    3  the answer is no: the job failed
    4  not signed in, or not allowed
    5  the named thing does not exist
    8  still pending
  124  a wait ran out of time
  130  interrupted`,
		},
		{
			Use:   "environment",
			Short: "Environment variables",
			Long: `  KUBECONFIG            kubeconfig files, as for kubectl
  HYPERPOD_SANDBOX      work on this practice cluster (1: the default one)
  HYPERPOD_NAMESPACE    the namespace where -n is not given
  HYPERPOD_SNAPSHOT     work on this snapshot of a cluster, read-only
  HYPERPOD_CONFIG       configuration file (default: hyperpod/config.yaml in the configuration folder)
  HYPERPOD_OUTPUT, HYPERPOD_COLOR, HYPERPOD_DEFAULT_TEMPLATE, HYPERPOD_SANDBOX_DIRECTORY,
  HYPERPOD_TEMPLATES_DIRECTORY, HYPERPOD_REQUEST_TIMEOUT, HYPERPOD_QUIET
                        settings of the configuration file
  NO_COLOR              no escape sequences at all
  XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME
                        folders for configuration, sandboxes and caches`,
		},
	}
}
