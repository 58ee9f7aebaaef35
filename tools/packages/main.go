// Command packages makes the artifacts of a release with plain Go: archives, deb, rpm and
// apk packages, an SPDX document for each binary, and checksums. It reads .goreleaser.yaml
// for their contents, so both ways make the same. A module of its own, so that it costs the
// product nothing.
//
//	go -C tools/packages run . -root ../.. -version v1.2.3 -out ../../dist [-targets linux/amd64,...]
//
// The same commit gives the same bytes: every time is SOURCE_DATE_EPOCH, or that of the commit.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// release is the part of .goreleaser.yaml that is read.
type release struct {
	Builds []struct {
		Main   string   `yaml:"main"`
		Tags   []string `yaml:"tags"`
		Goos   []string `yaml:"goos"`
		Goarch []string `yaml:"goarch"`
	} `yaml:"builds"`
	Archives []struct {
		Files []string `yaml:"files"`
	} `yaml:"archives"`
	Packages []struct {
		Formats     []string `yaml:"formats"`
		Maintainer  string   `yaml:"maintainer"`
		Description string   `yaml:"description"`
		Homepage    string   `yaml:"homepage"`
		License     string   `yaml:"license"`
		Section     string   `yaml:"section"`
		Contents    []struct {
			Src string `yaml:"src"`
			Dst string `yaml:"dst"`
			// Type is symlink for a link to Src, "" for files.
			Type string `yaml:"type"`
		} `yaml:"contents"`
	} `yaml:"nfpms"`
}

// maker makes artifacts in a folder.
type maker struct {
	root, out, version string
	// paths keeps the paths of this machine in the binaries. They then share compiled packages with other builds.
	paths   bool
	when    time.Time
	release release
}

func main() {
	root := flag.String("root", "../..", "folder of the repository")
	version := flag.String("version", "v0.0.0", "version, with v")
	out := flag.String("out", "dist", "folder of the artifacts")
	targets := flag.String("targets", "", "operating systems and processors, such as linux/amd64 (default: all)")
	paths := flag.Bool("paths", false, "leave the paths of this machine in the binaries: not for a release, but fast in a test")
	flag.Parse()
	if err := run(*root, *out, *version, *targets, *paths); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func run(root, out, version, targets string, paths bool) error {
	m := maker{version: version, paths: paths}
	var err error
	if m.root, err = filepath.Abs(root); err != nil {
		return err
	}
	if m.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if m.when, err = commitTime(m.root); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(m.root, ".goreleaser.yaml"))
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, &m.release); err != nil {
		return err
	}
	if err := os.MkdirAll(m.out, 0o755); err != nil {
		return err
	}
	if err := m.goTool("", "run", "./cmd/gendocs", "--man", filepath.Join(m.root, "man")); err != nil {
		return err
	}
	var names []string
	for _, t := range m.targets(targets) {
		made, err := m.target(t[0], t[1])
		if err != nil {
			return fmt.Errorf("%s/%s: %w", t[0], t[1], err)
		}
		names = append(names, made...)
	}
	slices.Sort(names)
	return m.checksums(names)
}

// commitTime is SOURCE_DATE_EPOCH, or the time of the commit.
func commitTime(root string) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "-C", root, "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the commit: %w", err)
		}
		text = strings.TrimSpace(string(out))
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(n, 0).UTC(), err
}

// targets are those that are given, or all of the release.
func (m *maker) targets(given string) (out [][2]string) {
	for _, b := range m.release.Builds {
		for _, goos := range b.Goos {
			for _, arch := range b.Goarch {
				if given == "" || slices.Contains(strings.Split(given, ","), goos+"/"+arch) {
					out = append(out, [2]string{goos, arch})
				}
			}
		}
	}
	return out
}

// goTool runs the go command in the repository, for GOOS/GOARCH unless target is "".
func (m *maker) goTool(target string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = m.root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if goos, arch, ok := strings.Cut(target, "/"); ok {
		cmd.Env = append(cmd.Env, "GOOS="+goos, "GOARCH="+arch)
	}
	return cmd.Run()
}

// target makes the artifacts of one operating system and processor, and returns their names.
func (m *maker) target(goos, arch string) ([]string, error) {
	name := fmt.Sprintf("hyperpod_%s_%s_%s", strings.TrimPrefix(m.version, "v"), goos, arch)
	exe := "hyperpod"
	if goos == "windows" {
		exe += ".exe"
	}
	binary := filepath.Join(m.out, "build", name, exe)
	if err := m.goTool(goos+"/"+arch, "build", "-trimpath="+strconv.FormatBool(!m.paths), "-buildvcs=false", "-tags", strings.Join(m.release.Builds[0].Tags, ","), "-ldflags", "-s -w -X main.version="+m.version, "-o", binary, m.release.Builds[0].Main); err != nil {
		return nil, err
	}
	files, err := m.archiveFiles(binary, exe)
	if err != nil {
		return nil, err
	}
	var made []string
	if goos == "windows" {
		made = append(made, name+".zip")
		err = m.zip(name+".zip", files)
	} else {
		made = append(made, name+".tar.gz")
		err = m.tarball(name+".tar.gz", files)
	}
	if err != nil {
		return nil, err
	}
	made = append(made, name+".spdx.json")
	if err := m.sbom(name, binary); err != nil {
		return nil, err
	}
	if goos == "linux" {
		packages, err := m.packages(arch, binary)
		if err != nil {
			return nil, err
		}
		made = append(made, packages...)
	}
	return made, nil
}

// file is one in an archive.
type file struct {
	path, name string
	mode       os.FileMode
}

// archiveFiles are the binary and what the release lists, by name.
func (m *maker) archiveFiles(binary, exe string) ([]file, error) {
	out := []file{{binary, exe, 0o755}}
	for _, pattern := range m.release.Archives[0].Files {
		found, err := filepath.Glob(filepath.Join(m.root, pattern))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("no file matches %s", pattern)
		}
		for _, path := range found {
			info, err := os.Stat(path)
			if err != nil {
				return nil, err
			}
			if info.IsDir() {
				continue
			}
			name, err := filepath.Rel(m.root, path)
			if err != nil {
				return nil, err
			}
			out = append(out, file{path, filepath.ToSlash(name), 0o644})
		}
	}
	slices.SortFunc(out, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// checksums writes the SHA-256 of every artifact.
func (m *maker) checksums(names []string) error {
	var lines strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(m.out, name))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&lines, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	return os.WriteFile(filepath.Join(m.out, "checksums.txt"), []byte(lines.String()), 0o644)
}
