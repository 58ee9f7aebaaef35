// Command checkmodules reports the modules that are linked into hyperpod: version, age and
// licence. It fails for a module that is replaced, that has a licence that Apache-2.0 cannot
// include, or that a binary has in another version than go.mod; with -sbom it writes the
// list of a binary in the format of CycloneDX. It needs no network.
//
//	checkmodules [-binary FILE [-sbom FILE]] FOLDER
package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	binary := flag.String("binary", "", "compare with the modules of this binary")
	sbom := flag.String("sbom", "", "write the modules of the binary to this file")
	flag.Parse()
	if flag.NArg() != 1 || *sbom != "" && *binary == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *binary, *sbom); err != nil {
		fmt.Fprintln(os.Stderr, "checkmodules:", err)
		os.Exit(1)
	}
}

// module is what go list prints of one.
type module struct {
	Path, Version, Dir string
	Time               *time.Time
	Main               bool
	Replace            *module
	licence            string
}

func run(folder, binary, sbom string) error {
	list, err := linked(folder)
	if err != nil {
		return err
	}
	var faults []error
	for i := range list {
		m := &list[i]
		if m.Replace != nil {
			faults = append(faults, fmt.Errorf("%s is replaced by %s %s", m.Path, m.Replace.Path, m.Replace.Version))
		}
		if m.licence, err = licence(m.Dir); err != nil {
			faults = append(faults, fmt.Errorf("%s %s: %w", m.Path, m.Version, err))
		}
	}
	report(list)
	if binary != "" {
		faults = append(faults, compare(list, binary, sbom))
	}
	return errors.Join(faults...)
}

// linked returns the modules of the packages of the program, on every platform of a release.
func linked(folder string) ([]module, error) {
	seen := map[string]bool{}
	var out []module
	for _, platform := range []string{"linux/amd64", "darwin/arm64", "windows/amd64"} {
		system, machine, _ := strings.Cut(platform, "/")
		cmd := exec.Command("go", "list", "-mod=readonly", "-deps", "-json=Module", "./cmd/hyperpod")
		cmd.Dir, cmd.Stderr = folder, os.Stderr
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0")
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", platform, err)
		}
		for d := json.NewDecoder(bytes.NewReader(text)); ; {
			var p struct{ Module *module }
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if m := p.Module; m != nil && !m.Main && !seen[m.Path] {
				seen[m.Path] = true
				out = append(out, *m)
			}
		}
	}
	slices.SortFunc(out, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// licences are recognized by a sentence of their text; all can be part of a program under
// Apache-2.0.
var licences = []struct{ name, sentence string }{
	{"Apache-2.0", "Apache License"},
	{"MPL-2.0", "Mozilla Public License"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"ISC", "Permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"BSD-3-Clause", "Neither the name of"},
	{"BSD-3-Clause", "endorse or promote products derived from this software"},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms"},
}

// refused are licences that a program under Apache-2.0 cannot include.
var refused = []string{"GNU GENERAL PUBLIC LICENSE", "GNU AFFERO GENERAL PUBLIC LICENSE", "GNU LESSER GENERAL PUBLIC LICENSE", "Server Side Public License", "Business Source License"}

// licence returns the licence in the folder of a module.
func licence(dir string) (string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if f.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return "", err
		}
		text := strings.Join(strings.Fields(string(data)), " ")
		for _, r := range refused {
			if strings.HasPrefix(text, r) {
				return "", fmt.Errorf("%s is not compatible with Apache-2.0", r)
			}
		}
		for _, l := range licences {
			if strings.Contains(text, l.sentence) {
				return l.name, nil
			}
		}
	}
	return "", errors.New("its licence is not known to this check")
}

// report prints the modules, the oldest versions first.
func report(list []module) {
	now, byLicence := time.Now(), map[string]int{}
	slices.SortStableFunc(list, func(a, b module) int { return when(a).Compare(when(b)) })
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MODULE\tVERSION\tAGE\tLICENCE")
	old := 0
	for _, m := range list {
		age := "-"
		if m.Time != nil {
			days := int(now.Sub(*m.Time).Hours() / 24)
			if age = fmt.Sprintf("%dd", days); days > 3*365 {
				old++
			}
		}
		byLicence[m.licence]++
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.Path, m.Version, age, m.licence)
	}
	w.Flush()
	fmt.Printf("%d modules, %d older than three years; licences:", len(list), old)
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range byLicence {
			if !yield(name) {
				return
			}
		}
	}) {
		fmt.Printf(" %s %d", name, byLicence[name])
	}
	fmt.Println()
}

func when(m module) time.Time {
	if m.Time == nil {
		return time.Time{}
	}
	return *m.Time
}

// compare compares the modules in a binary with the list.
func compare(list []module, binary, sbom string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	versions := map[string]string{}
	for _, m := range list {
		versions[m.Path] = m.Version
	}
	var faults []error
	for _, d := range info.Deps {
		switch {
		case d.Replace != nil:
			faults = append(faults, fmt.Errorf("%s: %s is replaced", binary, d.Path))
		case versions[d.Path] != d.Version:
			faults = append(faults, fmt.Errorf("%s has %s %s, go.mod %s", binary, d.Path, d.Version, versions[d.Path]))
		case d.Sum == "":
			faults = append(faults, fmt.Errorf("%s: %s has no checksum", binary, d.Path))
		}
	}
	fmt.Printf("%s: %d modules, as in go.mod\n", binary, len(info.Deps))
	if sbom != "" {
		faults = append(faults, write(sbom, info))
	}
	return errors.Join(faults...)
}

// write writes the modules of a binary in CycloneDX's form.
func write(file string, info *buildinfo.BuildInfo) error {
	type component struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		Version string `json:"version"`
		PURL    string `json:"purl"`
	}
	of := func(kind, name, version string) component {
		return component{kind, name, version, "pkg:golang/" + name + "@" + version}
	}
	list := []component{of("library", "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, d := range info.Deps {
		list = append(list, of("library", d.Path, d.Version))
	}
	data, err := json.MarshalIndent(map[string]any{"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata": map[string]any{"component": of("application", info.Main.Path, info.Main.Version)}, "components": list}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
