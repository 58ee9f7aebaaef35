package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// advised completes what an error suggests: the commands work on the cluster and in
// the namespace of this run, and a mistake in the options without a better suggestion
// leads to the command's help.
func advised(f *factory.Factory, cmd *cobra.Command, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	own := *e
	if err != error(e) { // wrapped: the text is the wrapper's
		own = errs.Error{What: err.Error(), Facts: e.Facts, Try: e.Try, Code: errs.ExitOf(err), Cause: err}
	}
	s := scopeOf(f)
	own.Try = nil
	for _, t := range e.Try {
		own.Try = append(own.Try, s.complete(t))
	}
	advice := func(fact errs.Fact) bool { return fact.Label == "advice" }
	if own.Code == errs.Usage && len(own.Try) == 0 && !slices.ContainsFunc(own.Facts, advice) && namesOption().MatchString(own.Error()) {
		own.Try = []errs.Suggestion{helpOf(cmd)}
	}
	if errs.NoSpace(err) && !slices.ContainsFunc(own.Facts, advice) {
		own.Facts = append(slices.Clip(own.Facts), errs.Fact{Label: "advice", Text: errs.FreeSpace})
	}
	return &own
}

// helpOf suggests the help of a command.
func helpOf(cmd *cobra.Command) errs.Suggestion {
	line := append(strings.Fields(cmd.CommandPath())[1:], "--help")
	return errs.Run(line[0], line[1:]...)
}

// namesOption finds the name of an option.
var namesOption = pattern.Lazy(`(^|[ "(])--?[a-z]`)

// scope is the namespace and the cluster of a run, as its flags name them.
type scope struct {
	namespace string
	cluster   []string
	file      bool   // the cluster is a snapshot
	program   string // how the program was called
}

func scopeOf(f *factory.Factory) scope {
	if f.Global.Snapshot != "" {
		return scope{f.Global.Namespace, []string{"--snapshot=" + f.Global.Snapshot}, true, f.Program}
	}
	return scope{f.Global.Namespace, f.ClusterArgs(), false, f.Program}
}

// clusterless are the commands that ask no cluster.
var clusterless = []string{"sandbox", "completion", "version", "validate-template"}

// liveOnly are those that want a cluster, and no file of one.
var liveOnly = []string{"save-snapshot"}

// complete adds the namespace and the cluster to a command that is suggested, unless
// it names them itself or needs none.
func (sc scope) complete(s errs.Suggestion) errs.Suggestion {
	if s.Kind == errs.RunCommand {
		s.Program = sc.program
	}
	if s.Kind != errs.RunCommand || len(s.Args) == 0 || strings.HasPrefix(s.Args[0], "-") || slices.Contains(clusterless, s.Args[0]) || s.Has("--help") {
		return s
	}
	if sc.file && slices.Contains(liveOnly, s.Args[0]) {
		return s
	}
	if sc.namespace != "" && !s.Has("-n", "--namespace", "-A", "--all-namespaces") {
		s = s.WithArgs("-n", sc.namespace)
	}
	if !s.Has("--sandbox", "--context", "--kubeconfig", "--snapshot") {
		s = s.WithArgs(sc.cluster...)
	}
	return s
}
