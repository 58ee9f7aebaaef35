package startjob

import (
	"os"
	"regexp"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/createtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
)

// Every setting of the table is an option of start-job, or of create-template.
func TestSettingsAreOptions(t *testing.T) {
	data, err := os.ReadFile("../../templates/setting/setting.go")
	if err != nil {
		t.Fatal(err)
	}
	f := &factory.Factory{}
	start, create := NewCmd(f, nil).Flags(), createtemplate.NewCmd(f, nil).Flags()
	global := map[string]bool{"namespace": true} // of every command
	found := regexp.MustCompile(`Setting = "([a-z-]+)"`).FindAllStringSubmatch(string(data), -1)
	if len(found) < 50 {
		t.Fatalf("only %d settings", len(found))
	}
	for _, m := range found {
		if name := m[1]; !global[name] && start.Lookup(name) == nil && create.Lookup(name) == nil {
			t.Errorf("--%s is in the table of settings but is not a flag", name)
		}
	}
}
