package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// prepare checks what holds for every command line alike, loads the configuration
// and settles color, before any command but those that need neither of the two.
func prepare(f *factory.Factory, cmd *cobra.Command, args []string) error {
	f.Command = strings.TrimPrefix(cmd.CommandPath(), "hyperpod ")
	if err := refuseEmpty(cmd); err != nil {
		return err
	}
	if err := checkNamespace(f, cmd); err != nil {
		return err
	}
	if err := checkFormat(f, cmd); err != nil {
		return err
	}
	if err := f.CheckMaxAge(cmd.Flags().Changed("max-age")); err != nil {
		return err
	}
	if slices.Contains([]string{"version", "completion", "help"}, cmd.Name()) {
		return nil
	}
	var warnings []string
	cfg, err := factory.Interruptible(cmd.Context(), func() (cfg config.Config, err error) {
		cfg, warnings, err = config.Load(f.Env)
		return cfg, err
	})
	// The doctor reports faults in the settings itself.
	if err != nil && (f.Command != "doctor" || cmd.Context().Err() != nil) {
		return err
	}
	f.Config = cfg
	if err := f.TakeFormat(cmd.Context()); err != nil {
		return err
	}
	flags := cmd.Flags()
	if !flags.Changed("color") && cfg.Color != "" {
		f.Global.Color = cfg.Color
	}
	if !flags.Changed("quiet") {
		f.Global.Quiet = cfg.Quiet
	}
	if !flags.Changed("request-timeout") {
		f.Global.Timeout = cfg.RequestTimeout
	} else if f.Global.Timeout < 0 {
		return factory.Invalid("request-timeout", f.Global.Timeout, "must be at least 0 (0: no limit)")
	}
	for _, w := range warnings {
		f.Notef("warning: %s", w)
	}
	f.IO.Quiet = f.Global.Quiet
	noteSandboxArgument(f, args)
	mode, err := output.ParseColor(f.Global.Color)
	if err != nil {
		return err
	}
	f.IO.SetColor(mode, f.Env)
	return refuseSnapshot(f, cmd, args)
}

// mayBeEmpty are the flags that say something with an empty text: that there is
// none of it.
var mayBeEmpty = []string{"script-args", "pre-script", "post-script", "description"}

// refuseEmpty refuses flags that are given with an empty text. It is nearly always
// a shell variable that is not set, and must not lead to another cluster, namespace,
// queue or choice of jobs than was meant.
func refuseEmpty(cmd *cobra.Command) error {
	var empty []string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if isEmpty(flag) && !slices.Contains(mayBeEmpty, flag.Name) {
			empty = append(empty, "--"+flag.Name)
		}
	})
	if len(empty) == 0 {
		return nil
	}
	is := "is"
	if len(empty) > 1 {
		is = "are"
	}
	return errs.Usagef("%s %s empty", strings.Join(empty, " and "), is).
		WithAdvice("omit it, or give it a value; check that shell variables are set").Suggest(helpOf(cmd))
}

// isEmpty reports a flag of text that is empty or blank, or of several texts that all are. Of
// -n= with nothing behind it, pflag makes the text "=".
func isEmpty(flag *pflag.Flag) bool {
	empty := func(text string) bool {
		if flag.Name != "grep" { // blanks can be what to look for
			text = strings.TrimSpace(text)
		}
		return text == "" || text == "=" && flag.Shorthand != ""
	}
	switch flag.Value.Type() {
	case "string":
		return empty(flag.Value.String())
	case "stringSlice", "stringArray":
		list, ok := flag.Value.(pflag.SliceValue)
		return ok && !slices.ContainsFunc(list.GetSlice(), func(text string) bool { return !empty(text) })
	}
	return false
}

// checkNamespace refuses a --namespace that can be none, before anything is asked.
func checkNamespace(f *factory.Factory, cmd *cobra.Command) error {
	name := f.Global.Namespace
	why := kinds.NotNamespace(name)
	if name == "" || why == "" {
		return nil
	}
	e := errs.Usagef("--namespace %s", why)
	if lower := strings.ToLower(name); kinds.NotNamespace(lower) == "" && lower != "a" {
		e.Suggest(errs.Option("--namespace", lower))
	}
	if name == "A" && cmd.Flags().Lookup("all-namespaces") != nil {
		e.Suggest(errs.Option("-A").WithNote("all namespaces"))
	}
	return e
}

// noteSandboxArgument notes arguments that are names of sandboxes where --sandbox has no value: the value follows an equals sign.
func noteSandboxArgument(f *factory.Factory, args []string) {
	if f.Global.Sandbox != factory.DefaultSandbox {
		return
	}
	for _, a := range args {
		if a != factory.DefaultSandbox && f.Offline.HasSandbox(a) {
			f.Notef("note: %s is an argument of the command; --sandbox=%s uses the sandbox of this name", a, a)
		}
	}
}
