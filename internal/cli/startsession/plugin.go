package startsession

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

const (
	pluginName = "session-manager-plugin"
	// responseVariable holds the answer of StartSession for newer plugins, so that the
	// token in it is not an argument, which other users of the machine can see.
	responseVariable = "AWS_SSM_START_SESSION_RESPONSE"
	installPage      = "https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-working-with-install-plugin.html"
)

// lastWithoutVariable returns the last version of the plugin that takes the answer as an
// argument only.
func lastWithoutVariable() []int { return []int{1, 2, 497, 0} }

// plugin is the installed session-manager-plugin.
type plugin struct {
	path     string
	variable bool
}

func findPlugin(ctx context.Context) (plugin, error) {
	path, err := exec.LookPath(pluginName)
	if err != nil {
		return plugin{}, errs.New("cannot start a session", pluginName+" is not on the PATH").WithFact("install", installPage).WithCause(err)
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	return plugin{path: path, variable: err == nil && newer(string(out), lastWithoutVariable())}, nil
}

// newer reports a version above another one; any other text is not newer.
func newer(version string, than []int) bool {
	parts := strings.Split(strings.TrimSpace(version), ".")
	if len(parts) > len(than) {
		return false
	}
	for i, old := range than {
		n := 0
		if i < len(parts) {
			var err error
			if n, err = strconv.Atoi(parts[i]); err != nil || n < 0 {
				return false
			}
		}
		if n != old {
			return n > old
		}
	}
	return false
}

// run runs the plugin on the terminal until the session ends, and returns its exit code.
// An interrupt reaches the plugin, which passes it on to the node; it does not end this
// program.
func (p plugin) run(s aws.Session, profile string) (int, error) {
	response, env := s.Response, os.Environ()
	if p.variable {
		response, env = responseVariable, append(env, responseVariable+"="+s.Response)
	}
	cmd := exec.Command(p.path, response, s.Region, "StartSession", profile, s.Request, s.Endpoint)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}
