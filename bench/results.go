package main

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
)

// results are what the comparisons measured, for programs and for later.
type results struct {
	Machine machine
	Figures []figure
	Ratios  []ratioOf
}

// machine says where the figures were measured; they mean little without it.
type machine struct {
	OS, Arch, Load string
	Processors     int
}

// figure is one contender of a comparison: medians, and the most memory of its runs.
type figure struct {
	Comparison, Command                string
	WallMs, FastestMs, CPUMs, MemoryMB float64
}

// ratioOf is what one contender takes of another's time; Budget is 0 where there is none.
type ratioOf struct {
	Of, Against   string
	Ratio, Budget float64
}

// write replaces the file, after each part, so that a run that is interrupted leaves its figures.
func (r *results) write(file string) error {
	if file == "" {
		return nil
	}
	r.Machine = machine{runtime.GOOS, runtime.GOARCH, strings.TrimPrefix(load(), "; load "), runtime.NumCPU()}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
