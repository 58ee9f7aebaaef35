package factory

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// wordsAnnotation is the annotation of a flag with the words that complete it.
const wordsAnnotation = "hyperpod_words"

// Complete attaches the completion from a fixed list to a flag. See [Factory.RegisterCompletions].
func Complete(cmd *cobra.Command, flag string, words ...string) {
	f := cmd.Flag(flag) // nil, for a flag that does not exist, is a programming error, seen by every test
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[wordsAnnotation] = words
}

// filesAnnotation marks a flag whose value is a file or folder of this machine.
const filesAnnotation = "hyperpod_files"

// TakesFile marks a flag whose value is a file or folder of this machine. The shell completes it.
func TakesFile(fs *pflag.FlagSet, flag string) {
	f := fs.Lookup(flag) // nil, for a flag that does not exist, is a programming error, seen by every test
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[filesAnnotation] = nil
}

// IsFile reports a flag that [TakesFile] marked.
func IsFile(flag *pflag.Flag) bool {
	_, marked := flag.Annotations[filesAnnotation]
	return marked
}

// CompleteFlag attaches a completion that asks the cluster to a flag. See [Factory.RegisterCompletions].
func (f *Factory) CompleteFlag(cmd *cobra.Command, flag string, l Lookup) {
	f.CompleteFlagBy(cmd, flag, f.completer(l))
}

// CompleteFlagBy attaches a completion function to a flag. See [Factory.RegisterCompletions].
func (f *Factory) CompleteFlagBy(cmd *cobra.Command, flag string, by cobra.CompletionFunc) {
	f.completions = append(f.completions, flagCompletion{cmd, flag, by})
}

// flagCompletion is the completion of a flag.
type flagCompletion struct {
	cmd  *cobra.Command
	flag string
	by   cobra.CompletionFunc
}

// RegisterCompletions hands the completions of all flags below root to cobra. A flag without a completion gets no words, and files only
// if [TakesFile] marks it; a command without one gets files only if its argument is a file. Only a run that completes a command line
// does so: cobra keeps them in a map of the process for ever, and with them all that the run has read.
func (f *Factory) RegisterCompletions(root *cobra.Command) error {
	var failed error
	register := func(cmd *cobra.Command, flag string, by cobra.CompletionFunc) {
		failed = errors.Join(failed, cmd.RegisterFlagCompletionFunc(flag, by))
	}
	own := map[*pflag.Flag]bool{}
	for _, c := range f.completions {
		own[c.cmd.Flag(c.flag)] = true
		register(c.cmd, c.flag, c.by)
	}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && !takesFile(cmd) {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			words, fixed := flag.Annotations[wordsAnnotation]
			_, inherited := cmd.GetFlagCompletionFunc(flag.Name)
			if fixed || !own[flag] && !inherited && !IsFile(flag) {
				register(cmd, flag.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
			}
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
	return failed
}

// takesFile reports a command whose first argument is a file, by its usage.
func takesFile(cmd *cobra.Command) bool {
	words := strings.Fields(cmd.Use)
	return len(words) > 1 && strings.HasPrefix(words[1], "FILE")
}
