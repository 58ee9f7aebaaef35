package cluster

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// operatorUser is the identity of the operators, the one their images run as.
const operatorUser = 65532

// processAttributes: killed with the starting thread, out of reach of the terminal's Ctrl-C
// (the bed stops its processes in order), and in a chroot without root's rights if root is given.
func processAttributes(root string) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if root != "" {
		attr.Chroot = root
		attr.Credential = &syscall.Credential{Uid: operatorUser, Gid: operatorUser}
	}
	return attr
}

// isolateNetwork moves the calling thread to a new network namespace and brings loopback up there.
func isolateNetwork() error {
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer syscall.Close(fd)
	// struct ifreq: a name of 16 bytes, then here the flags.
	var request [40]byte
	copy(request[:], "lo")
	*(*uint16)(unsafe.Pointer(&request[16])) = syscall.IFF_UP | syscall.IFF_RUNNING
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request[0]))); errno != 0 {
		return fmt.Errorf("bringing loopback up: %w", errno)
	}
	return nil
}

// platformSupported says in one line why this machine cannot run a bed.
func platformSupported() error {
	if os.Geteuid() != 0 {
		return errors.New("the test cluster needs root (chroot and network namespaces); run the tests as root, for example with sudo -E")
	}
	if !hasCapability(18) {
		return errors.New("the test cluster needs chroot, which this environment denies (no CAP_SYS_CHROOT)")
	}
	probe, err := newThread(true)
	if err != nil {
		return fmt.Errorf("the test cluster needs network namespaces, which this environment denies: %w", err)
	}
	probe.close()
	return nil
}

// hasCapability reads the effective set; unreadable counts as present, starting will tell.
func hasCapability(bit uint) bool {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return true
	}
	_, rest, found := strings.Cut(string(text), "CapEff:")
	line, _, _ := strings.Cut(rest, "\n")
	set, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	return !found || err != nil || set&(1<<bit) != 0
}
