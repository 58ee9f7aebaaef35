package script

import (
	"errors"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/configcmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/createcluster"
	"github.com/hyperpod-cli/hyperpod/internal/cli/describecluster"
	"github.com/hyperpod-cli/hyperpod/internal/cli/governancecmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listclusterevents"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listclusternodes"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listinstancetypes"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listtemplates"
	"github.com/hyperpod-cli/hyperpod/internal/cli/logview"
	"github.com/hyperpod-cli/hyperpod/internal/cli/repairnodes"
	"github.com/hyperpod-cli/hyperpod/internal/cli/sandboxcmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/templatepage"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestDocumentSchemas: the schemas of documents without a key Schema are those of their Go
// types, and what the commands print of a sandbox and an account keeps them.
// UPDATE_SCRIPTS=1 writes them.
func TestDocumentSchemas(t *testing.T) {
	t.Parallel()
	home, account := t.TempDir(), withAccount(t)
	if _, err := run(t, home, "sandbox", "create", "box"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		of   reflect.Type
		// args are command lines, separated by lines; with "* ", the exit code may be 1 or 3.
		args string
	}{
		{"version", reflect.TypeFor[cli.VersionDocument](), "version"},
		{"list-templates", reflect.TypeFor[listtemplates.Document](), "list-templates --sandbox=box"},
		{"get-template", reflect.TypeFor[templatepage.Template](), "get-template pytorch\nget-template smpv2-llama2"},
		{"list-instance-types", reflect.TypeFor[listinstancetypes.Document](), "list-instance-types --sandbox=box\nlist-instance-types --no-cluster"},
		{"sandbox-list", reflect.TypeFor[sandboxcmd.Document](), "sandbox list"},
		{"config-view", reflect.TypeFor[configcmd.Document](), "config view"},
		{"get-log", reflect.TypeFor[logview.Line](), "get-log vit-huge -n hyperpod-ns-researchers --tail 3 --sandbox=box"},
		{"governance-check", reflect.TypeFor[governancecmd.CheckDocument](), "governance check ../../examples/teams.yaml\n* governance check ../../examples/teams.yaml --capacity ml.p5.48xlarge=1"},
		{"governance-rbac", reflect.TypeFor[governancecmd.ReviewDocument](), "governance rbac researchers --verify --sandbox=box"},
		{"describe-cluster", reflect.TypeFor[describecluster.Document](), "describe-cluster ml-prod"},
		{"list-cluster-nodes", reflect.TypeFor[listclusternodes.Document](), "list-cluster-nodes ml-prod"},
		{"list-cluster-events", reflect.TypeFor[listclusterevents.Document](), "list-cluster-events ml-prod"},
		{"create-cluster", reflect.TypeFor[createcluster.Document](), "create-cluster -f ../../examples/cluster.yaml"},
		{"change-cluster-nodes", reflect.TypeFor[repairnodes.Document](), "replace-cluster-nodes ml-dev --group workers --dry-run"},
	} {
		want := fixture.Schema(c.name, c.of)
		path := "../../docs/schema/" + c.name + ".json"
		if os.Getenv("UPDATE_SCRIPTS") != "" {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(path)
		if err != nil || string(have) != string(want) {
			t.Errorf("%s is not the schema (UPDATE_SCRIPTS=1 go test ./test/script -run TestDocumentSchemas): %v", path, err)
		}
		for line := range strings.Lines(c.args) {
			args, mayFail := strings.CutPrefix(strings.TrimSpace(line), "* ")
			out, err := runWith(t, home, account, append(strings.Fields(args), "-o", "json")...)
			var exit *exec.ExitError
			if err != nil && (!mayFail || !errors.As(err, &exit)) {
				t.Errorf("hyperpod %s: %v", args, err)
				continue
			}
			documents := []string{out}
			if c.name == "get-log" {
				documents = strings.Split(strings.TrimSpace(out), "\n")
			}
			for _, d := range documents {
				if err := fixture.Validator(have)([]byte(d)); err != nil {
					t.Errorf("hyperpod %s: %v\n%s", args, err, d)
				}
			}
		}
	}
}
