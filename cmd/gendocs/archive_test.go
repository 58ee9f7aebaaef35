package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestLinksOfTheArchive: a release archive has every file that a page in it links to.
func TestLinksOfTheArchive(t *testing.T) {
	data, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Archives []struct{ Files []string }
	}
	if err := yaml.Unmarshal(data, &release); err != nil || len(release.Archives) != 1 {
		t.Fatal(err, release)
	}
	var files []string
	for _, pattern := range release.Archives[0].Files {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for _, page := range files {
		if !strings.HasSuffix(page, ".md") {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target := filepath.Join(filepath.Dir(page), m[1])
			if !slices.ContainsFunc(files, func(f string) bool { return f == target || filepath.Dir(f) == target }) {
				t.Errorf("%s links to %s, which is not in the archive", page, m[1])
			}
		}
	}
}
