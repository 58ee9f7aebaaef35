package queue

import (
	"encoding/json"
	"testing"
	"time"
)

// TestETADocument: a start that may be now is 0 seconds away; what is not known is null.
func TestETADocument(t *testing.T) {
	now := Seconds(400 * time.Millisecond)
	for _, c := range []struct {
		eta  ETA
		want string
	}{
		{ETA{EarliestSeconds: &now, LatestSeconds: &now}, `{"EarliestSeconds":0,"LatestSeconds":0}`},
		{ETA{EarliestSeconds: &now}, `{"EarliestSeconds":0,"LatestSeconds":null}`},
		{ETA{Reason: "NoDuration"}, `{"EarliestSeconds":null,"LatestSeconds":null,"Reason":"NoDuration"}`},
	} {
		if got, err := json.Marshal(c.eta); err != nil || string(got) != c.want {
			t.Errorf("%s, want %s (%v)", got, c.want, err)
		}
	}
}
