package main

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
)

// results are what the comparisons measured, for programs and for later.
type results struct {
	Machine  machine
	Figures  []figure
	Ratios   []ratioOf
	Measures []measure
	Scale    []point
}

// measure is a figure that has no peer. Budget is 0 where there is none.
type measure struct {
	What, Unit    string
	Value, Budget float64
}

// point is a command at one size of a cluster.
type point struct {
	Cluster, Command string
	WallMs, MemoryMB float64
	// Requests and AnswerKB (without compression) are of one run, once the served versions are known.
	Requests, AnswerKB int
}

// machine says where the figures were measured; they mean little without it.
type machine struct {
	OS, Arch, Processor, Load, Go string
	Processors                    int
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

// add keeps a figure that has no peer.
func (r *results) add(what string, value float64, unit string, budget float64) {
	r.Measures = append(r.Measures, measure{what, unit, value, budget})
}

// processor is the model of the first processor, "" where Linux's file does not say.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(data), "model name")
	_, rest, _ = strings.Cut(rest, ":")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// write replaces the file, after each part, so that a run that is interrupted leaves its figures.
func (r *results) write(file string) error {
	if file == "" {
		return nil
	}
	r.Machine = machine{runtime.GOOS, runtime.GOARCH, processor(), strings.TrimPrefix(load(), "; load "), runtime.Version(), runtime.NumCPU()}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
