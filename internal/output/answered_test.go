package output

import (
	"io"
	"syscall"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// A reader that is gone changes no answer; output that is lost is a failure.
func TestAnswered(t *testing.T) {
	for _, tt := range []struct {
		printed error
		code    errs.Exit
		want    errs.Exit
	}{
		{nil, errs.OK, errs.OK},
		{nil, errs.No, errs.No},
		{syscall.EPIPE, errs.No, errs.No},
		{syscall.ENOSPC, errs.No, errs.Failure},
		{io.ErrClosedPipe, errs.Pending, errs.Pending},
	} {
		if got := errs.ExitOf(Answered(tt.printed, tt.code)); got != tt.want {
			t.Errorf("%v, %d: got %d", tt.printed, tt.code, got)
		}
	}
	if got := Outcome(syscall.EPIPE, io.EOF); got != io.EOF {
		t.Errorf("a failure and a broken pipe: %v", got)
	}
	if got := Outcome(syscall.ENOSPC, io.EOF); got != syscall.ENOSPC {
		t.Errorf("a failure and a full disk: %v", got)
	}
	if err := Answered(syscall.EPIPE, errs.OK); !IsBrokenPipe(err) {
		t.Errorf("got %v", err)
	}
}
