package forward

import (
	"errors"
	"strconv"
	"strings"
)

// Port pairs a port of this machine with one of the pod.
type Port struct {
	// Local is 0 where any free port will do.
	Local, Remote uint16
}

// The faults of a port as it is written.
var (
	ErrPortForm  = errors.New("must be REMOTE, LOCAL:REMOTE or :REMOTE, for example 8080:6006")
	ErrPortRange = errors.New("ports must be from 1 to 65535")
)

// ParsePort reads REMOTE, LOCAL:REMOTE, or :REMOTE for any free local port.
func ParsePort(text string) (Port, error) {
	local, remote, both := strings.Cut(text, ":")
	if !both {
		remote = local
	}
	r, err := number(remote)
	if err == nil && r == 0 {
		err = ErrPortRange
	}
	if err != nil {
		return Port{}, err
	}
	if local == "" {
		return Port{Remote: r}, nil
	}
	l, err := number(local)
	return Port{Local: l, Remote: r}, err
}

func number(text string) (uint16, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, ErrPortForm
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, ErrPortRange
	}
	return uint16(n), nil
}
