package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// A screen is a block of code that begins with this line. In it, each line that begins with "$ hyperpod" is a command
// (with its continuation lines), and the lines below are what the command prints to a terminal.
const screenFence = "```console"

const (
	prompt = "$ "
	self   = prompt + "hyperpod "
	// columns is the width of the terminal: what a page of documentation shows without scrolling.
	columns = 116
)

// screenPages returns the pages that have screens, by path, with the output that the commands print now.
func screenPages() (map[string][]byte, error) {
	pages, err := filepath.Glob(filepath.Join("docs", "*.md"))
	if err != nil {
		return nil, err
	}
	var walks []string
	for _, folder := range walkFolders {
		found, err := filepath.Glob(filepath.Join(folder, "*.md"))
		if err != nil {
			return nil, err
		}
		walks = append(walks, found...)
	}
	files := map[string][]byte{}
	for _, path := range append(append(pages, "README.md"), walks...) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if !strings.Contains(string(text), "\n"+screenFence+"\n") {
			continue
		}
		show := func(page string) (string, error) { return withScreens(page, screen) }
		if slices.Contains(walks, path) {
			show = walked
		}
		page, err := show(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		files[path] = []byte(page)
	}
	return files, nil
}

// withScreens returns a page with the output of its screens made again by show.
func withScreens(page string, show func(commands []string) (string, error)) (string, error) {
	var out strings.Builder
	var block *[]string
	for line := range strings.Lines(page) {
		switch text := strings.TrimRight(line, "\n"); {
		case block == nil && text == screenFence:
			block = &[]string{}
			out.WriteString(line)
		case block == nil:
			out.WriteString(line)
		case text == "```":
			shown, err := show(commandsOf(*block))
			if err != nil {
				return "", err
			}
			out.WriteString(shown + line)
			block = nil
		default:
			*block = append(*block, text)
		}
	}
	if block != nil {
		return "", fmt.Errorf("a block of code has no end")
	}
	return out.String(), nil
}

// commandsOf returns the commands of a screen as they are written, a continuation line included.
func commandsOf(block []string) (commands []string) {
	more := false
	for _, line := range block {
		switch {
		case more:
			commands[len(commands)-1] += "\n" + line
		case strings.HasPrefix(line, prompt):
			commands = append(commands, line)
		default:
			continue
		}
		more = strings.HasSuffix(line, `\`)
	}
	return commands
}

// screen runs commands one after the other on a new sandbox and returns what a terminal shows. Names, times and ages
// are the same in every run: the clock stands still.
func screen(commands []string) (string, error) {
	home, err := os.MkdirTemp("", "screens")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(home)
	env := map[string]string{"HOME": home, "HYPERPOD_SANDBOX": "1", "HYPERPOD_NAMESPACE": "hyperpod-ns-ml-engineers", "NO_COLOR": "1"}
	now := func() time.Time { return time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC) }
	var out strings.Builder
	for i, command := range commands {
		io, buffers := output.Test()
		io.OutTTY, io.Width, io.Now = true, columns, now
		f := &factory.Factory{IO: io, Env: func(name string) string { return env[name] }, Now: now, Version: "dev"}
		words, err := shellwords.Split(strings.ReplaceAll(strings.TrimPrefix(command, self), "\\\n", " "))
		if err != nil {
			return "", fmt.Errorf("%s: %w", command, err)
		}
		cli.Run(context.Background(), f, words)
		if buffers.Out.Len() == 0 {
			return "", fmt.Errorf("%s\nprints no result:\n%s", command, buffers.Err)
		}
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(command + "\n")
		for line := range strings.Lines(buffers.Out.String()) {
			out.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
	}
	return out.String(), nil
}
