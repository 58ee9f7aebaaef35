package script

import (
	"errors"
	"os"
	"os/exec"
	"reflect"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestSchemas: docs/schema has the schemas of what these commands print, and what
// they print of a sandbox keeps them. UPDATE_SCRIPTS=1 writes them.
func TestSchemas(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, c := range []struct {
		name string
		want []byte
		args []string
	}{
		{"simulate", fixture.Schema(simulate.Schema, reflect.TypeFor[simulate.Report]()), []string{"simulate", "--remove-team", "interns", "--cycles", "2"}},
		{"governance-plan", fixture.Schema(plan.Schema, reflect.TypeFor[plan.Plan]()), []string{"governance", "plan", "-f", "../../examples/teams.yaml"}},
		{"governance-audit", fixture.Schema(audit.Schema, reflect.TypeFor[audit.Document]()), []string{"governance", "audit"}},
		{"get-quota", fixture.Schema(quota.Schema, reflect.TypeFor[quota.Document]()), []string{"get-quota", "--all-resources"}},
		{"get-queue", fixture.Schema(queue.Schema, reflect.TypeFor[queue.Document]()), []string{"get-queue", "interns", "--assume-duration", "4h"}},
	} {
		path := "../../docs/schema/" + c.name + ".json"
		if os.Getenv("UPDATE_SCRIPTS") != "" {
			if err := os.WriteFile(path, c.want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(path)
		if err != nil || string(have) != string(c.want) {
			t.Errorf("%s is not the schema (UPDATE_SCRIPTS=1 go test ./test/script -run TestSchemas): %v", path, err)
		}
		out, err := run(t, home, append(c.args, "--sandbox", "-o", "json")...)
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 3) { // 3: the answer is no
			t.Fatal(err)
		}
		if err := fixture.Validator(have)([]byte(out)); err != nil {
			t.Errorf("hyperpod %s: %v", c.name, err)
		}
	}
}
