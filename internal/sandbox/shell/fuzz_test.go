package shell

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// FuzzScript: a script comes from whoever may exec in a pod. It ends with an exit code, whatever it says.
func FuzzScript(f *testing.F) {
	for _, s := range []string{"echo \"rank $RANK\" '$RANK' ${RANK}; false || echo $?; true && exit 3", "echo a | cat > /tmp/x; cat < /tmp/x 2>> y", "sh -c 'sh -c \"echo $0\"' a b", "echo 'a", "\\", "${", "| ;&&"} {
		f.Add(s, "in")
	}
	f.Fuzz(func(t *testing.T, script, in string) {
		var out bytes.Buffer
		now := make(chan time.Time)
		close(now)
		s := Shell{Hostname: "pod-0", Env: map[string]string{"RANK": "3"}, GPUs: 1, After: func(time.Duration) <-chan time.Time { return now }}
		if code := s.Run(t.Context(), []string{"sh", "-c", script}, Streams{In: strings.NewReader(in), Out: &out, Err: &out}); code < 0 || code > 255 {
			t.Errorf("exit code %d", code)
		}
	})
}
