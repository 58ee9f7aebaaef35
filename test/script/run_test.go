package script

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/gettoken"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/permissions"
)

// exitError is the end of a command line with another exit code than 0.
type exitError struct {
	code   errs.Exit
	stderr string
}

func (e *exitError) Error() string { return fmt.Sprintf("exit status %d: %s", e.code, e.stderr) }

// run runs hyperpod with home as its home and returns what it printed. The error of another exit code than 0 is an *exitError.
func run(t *testing.T, home string, args ...string) (string, error) {
	t.Helper()
	return runWith(t, home, nil, args...)
}

// runWith is run with more variables.
func runWith(t *testing.T, home string, env []string, args ...string) (string, error) {
	t.Helper()
	code, stdout, stderr := outcome(t, home, env, args...)
	if code != errs.OK {
		return stdout, &exitError{code, stderr}
	}
	return stdout, nil
}

// both is runWith with stderr after stdout.
func both(t *testing.T, home string, env []string, args ...string) (string, error) {
	t.Helper()
	code, stdout, stderr := outcome(t, home, env, args...)
	if code != errs.OK {
		return stdout + stderr, &exitError{code, stderr}
	}
	return stdout + stderr, nil
}

// outcome runs hyperpod with home as its home. Without variables for AWS, whose SDK reads the environment of the process, the
// command runs in this process: starting one takes longer than most commands do.
func outcome(t *testing.T, home string, env []string, args ...string) (code errs.Exit, stdout, stderr string) {
	t.Helper()
	env = append([]string{"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "KUBECONFIG=", "TZ=UTC", "LANG=C.UTF-8", "USER=ada"}, env...)
	if slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "AWS_") }) {
		return runAlone(t, env, args...)
	}
	variables := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		variables[name] = value
	}
	var out, problems bytes.Buffer
	f := &factory.Factory{IO: &output.IO{In: strings.NewReader(""), Out: &out, Err: &problems, UTF8: true, Now: time.Now}, Env: func(name string) string { return variables[name] },
		Now: time.Now, Version: "v0.0.0-test", OwnPlugin: gettoken.InProcess}
	code = cli.Run(t.Context(), f, args)
	return code, out.String(), problems.String()
}

// runOn is runWith with an account of AWS for the commands that use one.
func runOn(t *testing.T, home string, account []string, args ...string) (string, error) {
	t.Helper()
	named := func(c permissions.AWSCommand) bool { return strings.Fields(c.Name)[0] == args[0] } // also governance, with --cluster-name
	if !slices.ContainsFunc(permissions.AWSCommands(), named) {
		account = nil
	}
	return runWith(t, home, account, args...)
}

// runAlone runs hyperpod in a process of its own, with nothing but env as its environment.
func runAlone(t *testing.T, env []string, args ...string) (code errs.Exit, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test program is hyperpod where it is called so: see TestMain.
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Args[0] = "hyperpod"
	cmd.Env = env
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err = cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return errs.Exit(cmd.ProcessState.ExitCode()), out.String(), problems.String()
}
