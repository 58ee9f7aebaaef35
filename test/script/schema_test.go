package script

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/canceljob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/getjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/getquota"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listpods"
	"github.com/hyperpod-cli/hyperpod/internal/cli/patchjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/savesnapshot"
	"github.com/hyperpod-cli/hyperpod/internal/cli/validatetemplate"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/doctor"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/present/sweeptext"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/report"
	"github.com/hyperpod-cli/hyperpod/internal/usage"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestErrorSchema: errors of every kind are lines of JSON that keep their schema.
func TestErrorSchema(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	want := fixture.Schema(errs.Schema, reflect.TypeFor[errs.Document]())
	const path = "../../docs/schema/error.json"
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != string(want) {
		t.Errorf("%s is not the schema (UPDATE_SCRIPTS=1 go test ./test/script -run TestErrorSchema): %v", path, err)
	}
	for args, code := range map[string]string{
		"list-jobs --kubeconfig /no/such/file": "NotFound", "list-jobs --bogus": "Usage", "lst-jobs": "Usage",
		"get-job x --sandbox -n hyperpod-ns-interns": "NotFound", "start-job": "Usage", "list-jobs -n x --sandbox --debug": "NotFound",
	} {
		_, err := run(t, home, append(strings.Fields(args), "--error-format", "json", "-q")...)
		if err == nil {
			t.Errorf("%s: no error", args)
			continue
		}
		_, text, _ := strings.Cut(err.Error(), ": ")
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "debug: ") {
				continue
			}
			var d errs.Document
			if err := fixture.Validator(have)([]byte(line)); err != nil || json.Unmarshal([]byte(line), &d) != nil || d.Code != code || d.ExitCode == 0 {
				t.Errorf("%s: %v: %s", args, err, line)
			}
		}
	}
}

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
		{"help", fixture.Schema(cli.HelpSchema, reflect.TypeFor[cli.HelpDocument]()), []string{"help", "governance"}},
		{"doctor", fixture.Schema(doctor.Schema, reflect.TypeFor[doctor.Document]()), []string{"doctor", "-n", "hyperpod-ns-researchers"}},
		{"cancel-job", fixture.Schema(canceljob.Schema, reflect.TypeFor[canceljob.Document]()), []string{"cancel-job", "vit-huge", "-n", "hyperpod-ns-researchers", "--dry-run"}},
		{"patch-job", fixture.Schema(patchjob.Schema, reflect.TypeFor[patchjob.Document]()), []string{"patch-job", "suspend", "vit-huge", "-n", "hyperpod-ns-researchers", "--dry-run"}},
		{"report", fixture.Schema(report.Schema, reflect.TypeFor[report.Document]()), []string{"report"}},
		{"get-usage", fixture.Schema(usage.Schema, reflect.TypeFor[usage.Document]()), []string{"get-usage", "-A"}},
		{"sweep-check", fixture.Schema(sweeptext.Schema, reflect.TypeFor[sweeptext.Document]()), []string{"start-job", "smpv2-llama2", "-n", "hyperpod-ns-ml-engineers", "--accelerators", "1", "--sweep", "seed=1..2", "--dry-run"}},
		{"get-quota", fixture.Schema(quota.Schema, reflect.TypeFor[quota.Document]()), []string{"get-quota", "--all-resources"}},
		{"get-queue", fixture.Schema(queue.Schema, reflect.TypeFor[queue.Document]()), []string{"get-queue", "interns", "--assume-duration", "4h"}},
		{"get-quota-by", fixture.Schema(quota.NodesSchema, reflect.TypeFor[getquota.NodesDocument]()), []string{"get-quota", "--by", "node-group"}},
		{"list-jobs", fixture.Schema("list-jobs", reflect.TypeFor[jobs.List[jobs.Row]]()), []string{"list-jobs", "-A"}},
		{"list-jobs-verbose", fixture.Schema("list-jobs --verbose", reflect.TypeFor[jobs.List[jobs.VerboseRow]]()), []string{"list-jobs", "-A", "--verbose"}},
		{"wait-job", fixture.Schema("wait-job", reflect.TypeFor[jobs.VerboseRow]()), []string{"wait-job", "vit-huge", "-n", "hyperpod-ns-researchers", "--for", "running"}},
		{"list-pods", fixture.Schema("list-pods", reflect.TypeFor[jobs.PodList]()), []string{"list-pods", "vit-huge", "-n", "hyperpod-ns-researchers"}},
		{"list-pods-verbose", fixture.Schema("list-pods --verbose", reflect.TypeFor[listpods.Document]()), []string{"list-pods", "vit-huge", "-n", "hyperpod-ns-researchers", "--verbose"}},
		{"validate-template", fixture.Schema("validate-template", reflect.TypeFor[validatetemplate.Document]()), []string{"validate-template", "pytorch"}},
		{"save-snapshot", fixture.Schema("save-snapshot", reflect.TypeFor[savesnapshot.Document]()), []string{"save-snapshot", filepath.Join(home, "cluster.json")}},
		{"get-job", fixture.Schema("get-job", reflect.TypeFor[getjob.Brief]()), []string{"get-job", "vit-huge", "-n", "hyperpod-ns-researchers"}},
		{"get-job-verbose", fixture.Schema("get-job --verbose", reflect.TypeFor[getjob.Verbose]()), []string{"get-job", "vit-huge", "-n", "hyperpod-ns-researchers", "--verbose"}},
		{"wait-job-deleted", fixture.Schema("wait-job --for deleted", reflect.TypeFor[waitjob.Deleted]()), []string{"wait-job", "x", "-n", "hyperpod-ns-researchers", "--for", "deleted"}},
		{"get-quota-watch", fixture.WatchSchema("get-quota --watch", reflect.TypeFor[quota.QuotaJSON]()), []string{"get-quota", "--watch"}},
		{"get-quota-by-watch", fixture.WatchSchema("get-quota --by --watch", reflect.TypeFor[quota.CapacityJSON]()), []string{"get-quota", "--by", "instance-type", "--watch"}},
		{"get-queue-watch", fixture.WatchSchema("get-queue --watch", reflect.TypeFor[queue.ItemJSON]()), []string{"get-queue", "--watch"}},
		{"list-jobs-watch", fixture.Schema("list-jobs --watch", reflect.TypeFor[jobs.Changed]()), []string{"list-jobs", "-A", "--watch"}},
		{"list-jobs-watch-verbose", fixture.Schema("list-jobs --watch --verbose, get-job --watch", reflect.TypeFor[jobs.VerboseChanged]()), []string{"list-jobs", "-A", "--watch", "--verbose"}},
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
		args := append(c.args, "--sandbox", "-o", "json")
		out, err := "", error(nil)
		if slices.Contains(args, "--watch") {
			out = firstLine(t, home, args)
		} else {
			out, err = run(t, home, args...)
		}
		var exit *exitError
		if err != nil && (!errors.As(err, &exit) || exit.code != errs.No) { // 3: the answer is no
			t.Fatal(err)
		}
		if err := fixture.Validator(have)([]byte(out)); err != nil {
			t.Errorf("hyperpod %s: %v", c.name, err)
		}
	}
}

// firstLine returns the first line that a command without end prints.
func firstLine(t *testing.T, home string, args []string) string {
	t.Helper()
	cmd := command(t, append([]string{"hyperpod"}, args...), []string{"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state")})
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Errorf("hyperpod %s: %v", strings.Join(args, " "), err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return line
}
