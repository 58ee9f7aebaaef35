package shell

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		argv     []string
		in       string
		tty      bool
		out, err string
		code     int
	}{
		{argv: []string{"echo", "a  b", "c"}, out: "a  b c\n"},
		{argv: []string{"/bin/echo", "-n", "x"}, out: "x"},
		{argv: []string{"hostname"}, out: "pod-0\n"},
		{argv: []string{"printenv", "RANK"}, out: "3\n"},
		{argv: []string{"printenv", "NONE"}, code: 1},
		{argv: []string{"env"}, out: "RANK=3\n"},
		{argv: []string{"false"}, code: 1},
		{argv: []string{"cat"}, in: "one\ntwo", out: "one\ntwo"},
		{argv: []string{"sleep", "0.01"}},
		{argv: []string{"sleep", "x"}, err: "sleep: invalid time interval \"x\"\n", code: 1},
		{argv: []string{"sh", "-c", "exit 7"}, code: 7},
		{argv: []string{"sh", "-ec", `echo "rank $RANK" '$RANK' ${RANK}; false || echo $?; true && exit 3; echo no`}, out: "rank 3 $RANK 3\n1\n", code: 3},
		{argv: []string{"sh", "-c", "echo oops >&2; exit 2"}, err: "oops\n", code: 2},
		{argv: []string{"sh", "-c", `echo ">&2"`}, out: ">&2\n"},
		{argv: []string{"sh", "-c", "echo a | cat"}, out: "a\n"},
		{argv: []string{"sh", "-c", "echo a & cat"}, err: "sandbox: the simulated shell does not support \"&\"\n", code: 2},
		{argv: []string{"sh", "-c", "echo 'a"}, err: "sandbox: a closing quote is missing\n", code: 2},
		{argv: []string{"sh"}, in: "echo hi\nexit 4\necho no\n", out: "hi\n", code: 4},
		{argv: []string{"nvidia-smi"}, out: "GPU 0: simulated accelerator of a sandbox\n"},
		{argv: []string{"bash"}, tty: true, in: "echo hx\x7fi\rexit 5\r", code: 5,
			out: "Simulated shell on pod-0: a sandbox runs no processes. `help` lists the commands.\r\nsandbox$ echo hx\b \bi\r\nhi\r\nsandbox$ exit 5\r\n"},
	} {
		t.Run(strings.Join(c.argv, " "), func(t *testing.T) {
			var out, errOut bytes.Buffer
			s := &Shell{Hostname: "pod-0", Env: map[string]string{"RANK": "3"}, GPUs: 1, After: time.After}
			code := s.Run(t.Context(), c.argv, Streams{In: strings.NewReader(c.in), Out: &out, Err: &errOut, TTY: c.tty})
			if code != c.code || out.String() != c.out || errOut.String() != c.err {
				t.Errorf("code %d, %q, %q; want %d, %q, %q", code, out.String(), errOut.String(), c.code, c.out, c.err)
			}
		})
	}
}

func TestUnknownCommandSaysThatItIsASandbox(t *testing.T) {
	var errOut bytes.Buffer
	s := &Shell{}
	if code := s.Run(t.Context(), []string{"python", "train.py"}, Streams{Out: &errOut, Err: &errOut}); code != 127 || !strings.Contains(errOut.String(), "a sandbox runs no processes") {
		t.Errorf("%d %q", code, errOut.String())
	}
}

func TestSleepEndsWithTheConnection(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &Shell{After: func(time.Duration) <-chan time.Time { return nil }}
	if code := s.Run(ctx, []string{"sleep", "100"}, Streams{}); code != interrupted {
		t.Errorf("exit code %d", code)
	}
}
