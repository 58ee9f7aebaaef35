// Command gendocs writes the generated files: completion scripts and the command reference from the command tree, the
// JSON Schemas of the files that people write, the screens in README.md and docs, and terminal pictures. Run it in the root of the
// repository. With --man it writes manual pages. TestUpToDate fails when a file is out of date.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/jsonschema"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

func main() {
	time.Local = time.UTC // what a screen shows does not depend on where it is made
	man := flag.String("man", "", "write manual pages into a folder, and nothing else")
	flag.Parse()
	var err error
	if *man != "" {
		err = writeMan(*man)
	} else {
		var files map[string][]byte
		if files, err = generate(); err == nil {
			err = write(files)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

// generate returns the content of every generated file by its path.
func generate() (map[string][]byte, error) {
	files := map[string][]byte{}
	names := map[string]string{"bash": "hyperpod.bash", "zsh": "_hyperpod", "fish": "hyperpod.fish", "powershell": "hyperpod.ps1"}
	for _, shell := range cli.Shells() {
		root, out := tree()
		if err := cli.WriteCompletion(root.root, shell, root.factory); err != nil {
			return nil, err
		}
		files[filepath.Join("completions", names[shell])] = out.Bytes()
	}
	reference, err := commandReference()
	files[filepath.Join("docs", "commands.md")] = reference
	if err != nil {
		return nil, err
	}
	for name, write := range map[string]func() ([]byte, error){"template": jsonschema.Template, "config-v2": jsonschema.Config, "governance": jsonschema.Governance} {
		if files[filepath.Join("docs", "schema", name+".schema.json")], err = write(); err != nil {
			return nil, err
		}
	}
	pages, err := screenPages()
	if err != nil {
		return nil, err
	}
	maps.Copy(files, pages)
	if err := kueueVersions(files); err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	drawn, err := makePictures(home)
	maps.Copy(files, drawn)
	return files, err
}

type commands struct {
	root    *cobra.Command
	factory *factory.Factory
}

func tree() (commands, *bytes.Buffer) {
	io, buffers := output.Test()
	f := &factory.Factory{IO: io, Env: func(string) string { return "" }, Now: time.Now, Version: "dev"}
	return commands{cli.NewRoot(f), f}, buffers.Out
}

// commandReference returns all commands on one page, in the order of the tree.
func commandReference() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# Commands\n\nGenerated from the command tree by `make docs`; do not edit.\n\n")
	t, _ := tree()
	t.root.DisableAutoGenTag = true
	var all []*cobra.Command
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() || c == t.root {
			all = append(all, c)
		}
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(t.root)
	sort.SliceStable(all, func(i, j int) bool { return all[i].CommandPath() < all[j].CommandPath() })
	for _, c := range all {
		link := func(name string) string {
			return "#" + strings.ReplaceAll(strings.TrimSuffix(name, ".md"), "_", "-")
		}
		var page bytes.Buffer
		if err := doc.GenMarkdownCustom(c, &page, link); err != nil {
			return nil, err
		}
		text, _, _ := strings.Cut(page.String(), "### Options inherited from parent commands")
		text, _, _ = strings.Cut(text, "### SEE ALSO")
		b.WriteString(strings.TrimSpace(text) + "\n\n")
	}
	return b.Bytes(), nil
}

// changed returns the paths of the files that are out of date, in their order.
func changed(files map[string][]byte) ([]string, error) {
	var out []string
	for path, want := range files {
		have, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if !bytes.Equal(have, want) {
			out = append(out, path)
		}
	}
	sort.Strings(out)
	return out, nil
}

// write writes the files that are out of date.
func write(files map[string][]byte) error {
	stale, err := changed(files)
	if err != nil {
		return err
	}
	for _, path := range stale {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, files[path], 0o644); err != nil {
			return err
		}
	}
	return nil
}
