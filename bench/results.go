package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
)

// results are what the comparisons measured, for programs and for later.
type results struct {
	Machine machine
	Parts   []part
}

// part is what one part of the bench measured, in the run that measured it last.
type part struct {
	Name     string
	Load     string // at its end: processes that run or want to
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
	OS, Arch, Processor, Go string
	Processors              int
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
func (p *part) add(what string, value float64, unit string, budget float64) {
	p.Measures = append(p.Measures, measure{what, unit, value, budget})
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

// write puts a part into the file, in the place of its last run. The other parts stay, if the machine is the same.
func write(file string, p part) error {
	if file == "" {
		return nil
	}
	here := machine{runtime.GOOS, runtime.GOARCH, processor(), runtime.Version(), runtime.NumCPU()}
	p.Load = strings.TrimPrefix(load(), "; load ")
	all, err := readResults(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if all.Machine != here {
		all = results{Machine: here}
	}
	all.put(p)
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// put replaces the part of the same name, or adds one.
func (r *results) put(p part) {
	if i := slices.IndexFunc(r.Parts, func(old part) bool { return old.Name == p.Name }); i >= 0 {
		r.Parts[i] = p
		return
	}
	r.Parts = append(r.Parts, p)
}

func readResults(file string) (results, error) {
	var r results
	data, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}
