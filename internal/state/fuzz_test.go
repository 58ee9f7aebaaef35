package state

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// FuzzDecode: an object of a server is a value or an error, for every kind of job.
func FuzzDecode(f *testing.F) {
	data, err := os.ReadFile("testdata/jobs.json")
	if err != nil {
		f.Fatal(err)
	}
	var all []json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		f.Fatal(err)
	}
	for _, raw := range all {
		f.Add([]byte(raw))
	}
	f.Add([]byte(`{"metadata":{"creationTimestamp":"0000-00-00"},"spec":{"podSets":[null]},"status":{"conditions":[null,{"status":1}],"admission":{"podSetAssignments":[{"count":1e99}]}}}`))
	f.Fuzz(func(t *testing.T, object []byte) {
		for _, k := range kinds.Jobs() {
			j, err := DecodeJob(k, object)
			if err == nil && j.Priority() == "" && j.TemplatePriority != "" {
				t.Errorf("%+v", j)
			}
		}
		_, _ = DecodeWorkload(object)
		_, _ = DecodePod(object)
		_, _ = DecodeEvent(object)
	})
}
