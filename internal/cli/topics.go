package cli

import "github.com/spf13/cobra"

// helpTopics returns the help pages that are not about a command.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{exitCodesTopic(), environmentTopic(), outputTopic(), templatesTopic(), offlineTopic(), agentsTopic()}
}

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "Exit codes and their meanings",
		Long: `    0  success
    1  the command failed
    2  the command line, or a file that it names, is invalid
    3  the answer is no: a job failed or can never run, a plan has changes, ...
    4  not signed in, or permission denied
    5  not found
    8  still pending
  124  a wait timed out
  130  interrupted: Ctrl-C, SIGTERM or SIGHUP`,
	}
}

func environmentTopic() *cobra.Command {
	return &cobra.Command{
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
  HYPERPOD_CONTEXT      HYPERPOD_PROMETHEUS        HYPERPOD_TEMPLATES_DIRECTORY
  HYPERPOD_QUIET        HYPERPOD_DEFAULT_TEMPLATE  HYPERPOD_REQUEST_TIMEOUT
  HYPERPOD_PROMETHEUS_TOKEN_FILE                   HYPERPOD_COMPLETION_CACHE

  The setting confirm says when start-job prompts on a terminal: always (before
  it preempts jobs, and for a job that can never run), preempt (only before it
  preempts jobs), or never. The setting completion-cache says how long
  completion keeps names of a cluster, in files that only you can read (15s; 0:
  off).

Terminal and folders:
  NO_COLOR              disable color and all other escape sequences
  XDG_CONFIG_HOME       base directory for configuration
  XDG_STATE_HOME        base directory for sandboxes and recorded history
  XDG_CACHE_HOME        base directory for caches

Read by Go, in every program that is written in it:
  GOGC                  growth in percent before memory is freed
  GOMEMLIMIT            soft limit, for example 512MiB; with another form, such
                        as 512MB, every command fails at once (exit code 2):
                        "fatal error: malformed GOMEMLIMIT"
  GODEBUG               settings of Go, for example fips140=on; with a value of
                        fips140 other than on, off, only or debug, every
                        command fails at once (exit code 2):
                        "panic: fips140: unknown GODEBUG setting"`,
	}
}

func outputTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "output",
		Short: "Output formats",
		Long: `Results go to stdout; notices, progress and warnings go to stderr (--quiet
suppresses them). A terminal gets a table, a pipe gets JSON. -o and the setting
"output" choose another format:

  json, yaml            the document of the command
  jsonl                 the document on one line; with --watch, a line for each
                        change
  table, wide           columns; wide has more, and prints all of them
  name                  kind.group/name, one per line, for xargs
  jsonpath=TEMPLATE     values of the document, as in kubectl
  custom-columns=SPEC   columns of the document, as in kubectl
  prometheus            metrics (get-quota, get-queue)
  markdown, html, csv   reports, plans and usage

A command refuses formats that it does not have before it changes anything.
Documents name their schema, for example hyperpod.admission-check/v1; with
--output-version v1, a later program prints this version or fails.
With --error-format json, each error is one line of JSON on stderr.

Examples:
  hyperpod list-jobs -A --state running -o name
  hyperpod get-queue ml-engineers -o custom-columns=JOB:.Name,WHY:.Summary
  hyperpod start-job -f train.yaml --dry-run -o jsonpath='{.Verdict}'`,
	}
}

func templatesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "templates",
		Short: "Templates, parameters and manifests of your own",
		Long: `start-job makes a job from one of these:

  --template NAME       a template of the program, of your team or in your
                        templates directory (see "hyperpod list-templates")
  -f FILE               your manifests; a file, a folder, or - for stdin; also
                        a configuration file of the official CLI v2, and a
                        Slurm batch script
  --from JOB            a job of the cluster

Without any of them, start-job uses the template pytorch.

A template is a manifest with placeholders, ${NAME}. Flags fill them, and --set
NAME=VALUE fills those that have no flag. A template can declare its parameters
with type, default and help in a first YAML document:

  parameters:
    lr: {type: number, default: 0.01, help: learning rate}

Then the namespace, queue, priority and node health are filled in. --dry-run
says whether the job would run, --dry-run=client prints its objects, and
--dry-run=server has the API server check them.

Examples:
  hyperpod start-job --template fsdp-llama --help
  hyperpod get-template pytorch
  hyperpod start-job -f train.yaml --set lr=0.001
  hyperpod validate-template train.yaml
  hyperpod create-template bert --job bert-2 --team`,
	}
}

func offlineTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "offline",
		Short: "Sandboxes and snapshots: work without a cluster",
		Long: `A sandbox is a practice cluster in a file on this machine. Kueue's own
scheduling core admits its jobs; pods are simulated. All commands work on it:

  hyperpod list-jobs -A --sandbox
  export HYPERPOD_SANDBOX=1
  hyperpod sandbox create lab --scenario startup
  hyperpod sandbox advance 2h --sandbox=lab

A snapshot is a real cluster saved in a file, without secrets. Commands that
read work on it, and the dry run and simulate give the answers of the cluster:

  hyperpod save-snapshot team.json.gz
  hyperpod start-job -f train.yaml --dry-run --snapshot team.json.gz
  hyperpod simulate --set researchers.borrow-limit=0 --snapshot team.json.gz

--max-age 1h refuses an older snapshot. What you had no permission to read is
missing in the file, and commands report what they lack.`,
	}
}

func agentsTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "agents",
		Short: "Use by AI agents and other programs",
		Long: `hyperpod mcp serves the commands as tools of the Model Context Protocol on
stdin and stdout. In the configuration of an agent:

  {"mcpServers": {"hyperpod": {"command": "hyperpod", "args": ["mcp"]}}}

Tools only read. --allow start,cancel,patch adds tools that write; their first
call returns a preview and a token, and a second call with the token makes the
change.

Programs without MCP can call the commands:

  hyperpod help --json         all commands, flags, types and defaults
  -o json                      the document of a command
  --error-format json          errors as JSON: code, message, suggestions
  --idempotency-key KEY        repeat a start without a second job
  hyperpod help exit-codes     0 yes, 3 no, 8 pending, 124 timeout, ...

In a pipe, commands never prompt.`,
	}
}
