//go:build !linux

package cluster

import (
	"errors"
	"runtime"
	"syscall"
)

const operatorUser = 65532

func processAttributes(string) *syscall.SysProcAttr { return nil }

func isolateNetwork() error { return platformSupported() }

func platformSupported() error {
	return errors.New("the test cluster runs on Linux only, this is " + runtime.GOOS)
}
