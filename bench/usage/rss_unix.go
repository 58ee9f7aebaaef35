//go:build unix

package usage

import (
	"os"
	"runtime"
	"syscall"
)

// rssMB is the most memory that an ended process held, in MB.
func rssMB(p *os.ProcessState) float64 {
	most := float64(p.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS == "darwin" { // bytes there, KiB elsewhere
		return most / (1 << 20)
	}
	return most / 1024
}
