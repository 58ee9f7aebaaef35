package oracle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// unit is a call of a function of Kueue by a test that runs no scheduling cycle.
type unit struct {
	settings
	Test    string
	Objects []json.RawMessage
	Given   json.RawMessage
	Result  json.RawMessage
}

// readUnits returns the calls of the tests with this name.
func readUnits(t *testing.T, test string) []*unit {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(writeCases(t), "units", test+"-*.json"))
	must(err)
	var out []*unit
	for _, f := range files {
		data, err := os.ReadFile(f)
		must(err)
		u := &unit{}
		must(json.Unmarshal(data, u))
		out = append(out, u)
	}
	return out
}

func listOf(objects ...client.Object) []client.Object { return objects }
