package gettoken

import (
	"os"
	"testing"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
)

// TestInProcess: only this program with the command get-token, and with flags that it has,
// runs in this process.
func TestInProcess(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		plugin api.ExecConfig
		want   bool
	}{
		{"what connect-cluster writes", api.ExecConfig{Command: own, Args: []string{"get-token", "--cluster-name", "ml", "--region", "us-west-2", "--profile", "a"}}, true},
		{"another program", api.ExecConfig{Command: "sh", Args: []string{"get-token", "ml"}}, false},
		{"a program that is not there", api.ExecConfig{Command: "no-such-program", Args: []string{"get-token", "ml"}}, false},
		{"another command", api.ExecConfig{Command: own, Args: []string{"list-jobs"}}, false},
		{"no command", api.ExecConfig{Command: own}, false},
		{"variables", api.ExecConfig{Command: own, Args: []string{"get-token", "ml"}, Env: []api.ExecEnvVar{{Name: "AWS_PROFILE", Value: "a"}}}, false},
		{"a flag of another version", api.ExecConfig{Command: own, Args: []string{"get-token", "ml", "--later"}}, false},
		{"help", api.ExecConfig{Command: own, Args: []string{"get-token", "--help"}}, false},
	} {
		if got := InProcess(&factory.Factory{}, &c.plugin) != nil; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
