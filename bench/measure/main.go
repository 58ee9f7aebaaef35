// Command measure runs a command, writes what it took into a file, and ends with its exit code:
//
//	measure FILE COMMAND ARGUMENT...
//
// On Linux the peak memory of a process starts at the memory of the process that started it. So bench, which holds
// whole clusters, starts its commands through this small one.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/hyperpod-cli/hyperpod/bench/usage"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: measure FILE COMMAND ARGUMENT...")
		os.Exit(2)
	}
	code, err := run(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(into string, args []string) (int, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // an error: it has ended
		}
	}()
	err := cmd.Wait()
	used := usage.Of(cmd.ProcessState, time.Since(start))
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return 1, err
	}
	data, err := json.Marshal(used)
	if err != nil {
		return 1, err
	}
	return max(cmd.ProcessState.ExitCode(), 0), os.WriteFile(into, data, 0o600)
}
