package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// advised completes what an error says to try: the commands work on the cluster and
// in the namespace that this run worked on, and a mistake in the options without
// better advice leads to the command's help.
func advised(f *factory.Factory, cmd *cobra.Command, err error) error {
	e, ok := err.(*errs.Error)
	if !ok {
		return err
	}
	own := *e
	own.Try = nil
	for _, line := range e.Try {
		own.Try = append(own.Try, sameScope(line, f.Global.Namespace, clusterFlags(f)))
	}
	advice := func(fact errs.Fact) bool { return fact.Label == "advice" }
	if own.Code == errs.Usage && len(own.Try) == 0 && !slices.ContainsFunc(own.Facts, advice) && namesOption.MatchString(own.Error()) {
		own.Try = []string{cmd.CommandPath() + " --help"}
	}
	return &own
}

// namesOption finds the name of an option.
var namesOption = regexp.MustCompile(`(^|[ "(])--?[a-z]`)

// clusterFlags are the flags of this run that say which cluster is read.
func clusterFlags(f *factory.Factory) string {
	if f.Global.Snapshot != "" {
		return " --snapshot=" + factory.ShellWord(f.Global.Snapshot)
	}
	return f.ClusterFlags()
}

// clusterless are the commands that ask no cluster.
var clusterless = []string{"sandbox", "completion", "version", "validate-template"}

// liveOnly are those that want a cluster, and no file of one.
var liveOnly = []string{"save-snapshot"}

// sameScope adds the namespace and the flags of the cluster to a command that is
// offered, unless it names them itself or needs none.
func sameScope(line, namespace, cluster string) string {
	command, words, commented := strings.Cut(line, "   # ")
	fields := strings.Fields(command)
	if len(fields) < 2 || fields[0] != "hyperpod" || slices.Contains(clusterless, fields[1]) || slices.Contains(fields, "--help") {
		return line
	}
	if strings.HasPrefix(cluster, " --snapshot") && slices.Contains(liveOnly, fields[1]) {
		return line
	}
	command, program, runs := strings.Cut(command, " -- ")
	if namespace != "" && !namesNamespace.MatchString(command) {
		command += " -n " + factory.ShellWord(namespace)
	}
	if !namesCluster.MatchString(command) {
		command += cluster
	}
	if runs {
		command += " -- " + program
	}
	if commented {
		command += "   # " + words
	}
	return command
}

var (
	namesCluster   = regexp.MustCompile(` --(sandbox|context|kubeconfig|snapshot)\b`)
	namesNamespace = regexp.MustCompile(` (-n|--namespace\b|-A\b|--all-namespaces\b)`)
)
