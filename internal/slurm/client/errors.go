package client

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"time"
)

// Code says why a command failed.
type Code string

// The codes.
const (
	NoCommand    Code = "Missing" // the command is not on the PATH
	Down         Code = "Down"    // the controller does not answer
	NotSet       Code = "NotSet"  // this machine has no configuration of Slurm
	UnknownJob   Code = "UnknownJob"
	UnknownNode  Code = "UnknownNode"
	NoPartition  Code = "NoPartition"
	NoAccount    Code = "NoAccount"
	NoQOS        Code = "NoQOS"
	NeverFits    Code = "NeverFits" // no nodes of the partition have what is requested
	Denied       Code = "Denied"
	NoAccounting Code = "NoAccounting"
	TimedOut     Code = "TimedOut"
	TooLarge     Code = "TooLarge"
	Unreadable   Code = "Unreadable"
	Other        Code = "Other"
)

// Error is a command of Slurm that failed.
type Error struct {
	Command string
	Code    Code
	// Message is what Slurm printed.
	Message string
	// Limit is the time that has passed, with TimedOut.
	Limit time.Duration
	Err   error
}

// Error implements error.
func (e *Error) Error() string { return e.Command + ": " + cmp.Or(e.Message, string(e.Code)) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether an error is one of a code.
func Is(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// texts are parts of Slurm's messages (src/common/slurm_errno.c) and what they mean.
var texts = []struct {
	part string
	code Code
}{
	{"Unable to contact slurm controller", Down},
	{"Zero Bytes were transmitted", Down},
	{"Socket timed out", Down},
	{"Connection refused", Down},
	{"slurmdbd", Down},
	{"Could not establish a configuration source", NotSet},
	{"Unable to process configuration file", NotSet},
	{"accounting storage is disabled", NoAccounting},
	{"Invalid job id specified", UnknownJob},
	{"Invalid node name specified", UnknownNode},
	{"Invalid partition name specified", NoPartition},
	{"invalid partition specified", NoPartition},
	{"Invalid account", NoAccount},
	{"Invalid qos", NoQOS},
	{"Invalid feature specification", NeverFits},
	{"Requested node configuration is not available", NeverFits},
	{"Node count specification invalid", NeverFits},
	{"Requested time limit is invalid", NeverFits},
	{"Invalid generic resource", NeverFits},
	{"Access/permission denied", Denied},
	{"Access denied", Denied},
}

// failure returns the error of a command.
func failure(name, messages string, limit time.Duration, err error) error {
	e := &Error{Command: name, Code: Other, Message: message(messages), Err: err}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Code, e.Limit = TimedOut, limit
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, exec.ErrNotFound):
		e.Code = NoCommand
	case errors.Is(err, io.ErrShortBuffer):
		e.Code = TooLarge
	default:
		for _, t := range texts {
			if strings.Contains(messages, t.part) {
				e.Code = t.code
				break
			}
		}
	}
	return e
}

// message returns what a command printed, without the names of commands before each line.
func message(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if before, after, ok := strings.Cut(line, ": "); ok && !strings.Contains(before, " ") {
			line = after
		}
		line = strings.TrimPrefix(line, "error: ")
		if line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
