package script

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/clusterfile"
	"github.com/hyperpod-cli/hyperpod/internal/cli/configcmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/describecluster"
	"github.com/hyperpod-cli/hyperpod/internal/cli/explainjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/getclusters"
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
	figure := fixture.ValueOf[getclusters.Figure]("number", "string")
	if _, err := run(t, home, "sandbox", "create", "box"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		of   reflect.Type // nil: with schema
		// args are command lines, separated by lines; with "* ", the exit code may be 1 or 3.
		args   string
		schema []byte
	}{
		{"version", reflect.TypeFor[cli.VersionDocument](), "version", nil},
		{"list-templates", reflect.TypeFor[listtemplates.Document](), "list-templates --sandbox=box", nil},
		{"get-template", reflect.TypeFor[templatepage.Template](), "get-template pytorch\nget-template smpv2-llama2", nil},
		{"list-instance-types", reflect.TypeFor[listinstancetypes.Document](), "list-instance-types --sandbox=box\nlist-instance-types --no-cluster", nil},
		{"sandbox-list", reflect.TypeFor[sandboxcmd.Document](), "sandbox list", nil},
		{"config-view", reflect.TypeFor[configcmd.Document](), "config view", nil},
		{"get-log", reflect.TypeFor[logview.Line](), "get-log vit-huge -n hyperpod-ns-researchers --tail 3 --sandbox=box", nil},
		{"governance-check", reflect.TypeFor[governancecmd.CheckDocument](), "governance check ../../examples/teams.yaml\n* governance check ../../examples/teams.yaml --capacity ml.p5.48xlarge=1", nil},
		{"governance-rbac", reflect.TypeFor[governancecmd.ReviewDocument](), "governance rbac researchers --verify --sandbox=box", nil},
		{"describe-cluster", reflect.TypeFor[describecluster.Document](), "describe-cluster ml-prod", nil},
		{"list-cluster-nodes", reflect.TypeFor[listclusternodes.Document](), "list-cluster-nodes ml-prod", nil},
		{"list-cluster-events", reflect.TypeFor[listclusterevents.Document](), "list-cluster-events ml-prod", nil},
		{"create-cluster", reflect.TypeFor[clusterfile.Document](), "create-cluster -f ../../examples/cluster.yaml", nil},
		{"change-cluster-nodes", reflect.TypeFor[repairnodes.Document](), "replace-cluster-nodes ml-dev --group workers --dry-run", nil},
		{"governance-rbac-entries", reflect.TypeFor[governancecmd.EntriesReview](), "* governance rbac researchers --cluster-name ml-prod --principal arn:aws:iam::123456789012:role/ops --verify", nil},
		{"get-clusters", nil, "get-clusters -n hyperpod-ns-researchers", fixture.Schema("get-clusters", reflect.TypeFor[[]getclusters.Row](), figure)},
		{"get-clusters-group", nil, "get-clusters --group", fixture.Schema("get-clusters --group", reflect.TypeFor[[]getclusters.Grouped](), figure)},
		{"get-clusters-watch", nil, "", fixture.WatchSchema("get-clusters --watch", reflect.TypeFor[getclusters.Row](), figure)},
		{"get-clusters-group-watch", nil, "", fixture.WatchSchema("get-clusters --group --watch", reflect.TypeFor[getclusters.Grouped](), figure)},
		{"list-cluster-events-follow", reflect.TypeFor[listclusterevents.Row](), "", nil},
		{"explain-job-slurm", reflect.TypeFor[explainjob.SlurmExplanation](), "", nil},
	} {
		want := c.schema
		if c.of != nil {
			want = fixture.Schema(c.name, c.of)
		}
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
			out, err := runOn(t, home, account, append(strings.Fields(args), "-o", "json")...)
			var exit *exitError
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
