package cluster

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// lessGC trades memory for time in the processes of a bed: half of the API server's start would be garbage
// collection of CRD schemas.
const lessGC = "GOGC=300"

func (b *Bed) spawn(c command) (*process, error) {
	if c.env == nil {
		c.env = []string{lessGC, "PATH=" + os.Getenv("PATH"), "HOME=" + b.dir}
	}
	p, err := start(c, b.LogDir)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.processes = append(b.processes, p)
	return p, nil
}

// ended removes the processes that have ended by themselves, and returns them.
func (b *Bed) ended() []*process {
	b.mu.Lock()
	defer b.mu.Unlock()
	var gone []*process
	b.processes = slices.DeleteFunc(b.processes, func(p *process) bool {
		if p.exited() == nil {
			return false
		}
		gone = append(gone, p)
		return true
	})
	return gone
}

// find returns the process of that name; nil if there is none.
func (b *Bed) find(name string) *process {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.processes {
		if p.name == name {
			return p
		}
	}
	return nil
}

// take removes the process of that name from those that must run, and returns it; nil if there is none.
func (b *Bed) take(name string) *process {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, p := range b.processes {
		if p.name == name {
			b.processes = append(b.processes[:i:i], b.processes[i+1:]...)
			return p
		}
	}
	return nil
}

// Check returns an error with the end of its log if a process of the bed has ended by itself. While
// the API server is stopped operators may do so, as they do in a real cluster.
func (b *Bed) Check() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.apiDown {
		return nil
	}
	var errs []error
	for _, p := range b.processes {
		errs = append(errs, p.exited())
	}
	return errors.Join(errs...)
}

// Stop ends all processes and removes the bed's temporary folder. It may be called again.
func (b *Bed) Stop() error {
	b.mu.Lock()
	processes := b.processes
	b.processes = nil
	done := b.stopped
	b.stopped = true
	b.mu.Unlock()
	if done {
		return nil
	}
	// Clients first, then the API server, then its store: each ends at once when nobody uses it.
	last := map[string]int{"kube-apiserver": 1, "etcd": 2}
	for stage := range 3 {
		var stops []func() error
		for _, p := range processes {
			if last[p.name] == stage {
				stops = append(stops, func() error { p.stop(3 * time.Second); return nil })
			}
		}
		if err := parallel(stops...); err != nil {
			return err
		}
		if stage == 0 && b.client != nil {
			b.client.CloseIdleConnections()
		}
	}
	for _, c := range b.closers {
		c.Close()
	}
	for _, t := range b.threads {
		t.close()
	}
	if b.options.Dir != "" || b.dir == "" {
		return nil
	}
	if err := os.RemoveAll(b.dir); err != nil {
		return fmt.Errorf("cannot remove the bed's folder: %w", err)
	}
	return nil
}

// parallel runs all functions and returns all errors.
func parallel(functions ...func() error) error {
	errs := make([]error, len(functions))
	var wg sync.WaitGroup
	for i, f := range functions {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
