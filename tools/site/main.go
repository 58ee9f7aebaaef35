// Command site makes the web site of the documentation from the same Markdown that the repository shows: a page for
// README.md, CONTRIBUTING.md and each page of docs, and the files they link to. It fails if a relative link has no
// target, or a fragment no heading. With -check it writes nothing.
//
//	go -C tools/site run . -out DIR REPOSITORY
//	go -C tools/site run . -check REPOSITORY
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

func main() {
	check := flag.Bool("check", false, "check all links and write nothing")
	out := flag.String("out", "", "folder to write the site to")
	flag.Parse()
	if flag.NArg() != 1 || *check == (*out != "") {
		fmt.Fprintln(os.Stderr, "usage: site -check|-out DIR REPOSITORY")
		os.Exit(2)
	}
	s, err := read(os.DirFS(flag.Arg(0)))
	if err == nil {
		err = s.links()
	}
	if err == nil && *out != "" {
		err = s.write(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("site: %d pages, %d links\n", len(s.pages), s.count)
}

// site is the documentation of a repository: pages by their path (docs/quota.md).
type site struct {
	root  fs.FS
	pages map[string]*page
	files map[string]bool // files that are not pages and that a page links to
	count int             // links
}

// page is one Markdown file.
type page struct {
	source  []byte
	tree    ast.Node
	title   string
	anchors map[string]bool
}

func read(root fs.FS) (*site, error) {
	s := &site{root: root, pages: map[string]*page{}, files: map[string]bool{}}
	paths := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	err := fs.WalkDir(root, "docs", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".md") && d.Name() != "SKILL.md" {
			paths = append(paths, p)
		}
		return err
	})
	for _, p := range paths {
		text, readErr := fs.ReadFile(root, p)
		if err = errors.Join(err, readErr); err == nil {
			s.pages[p] = parse(text)
		}
	}
	return s, err
}

// links finds the target of every link. A link to a page of the site leads to its HTML, with the same fragment.
func (s *site) links() error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		p := s.pages[name]
		err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			var destination *[]byte
			switch n := n.(type) {
			case *ast.Link:
				destination = &n.Destination
			case *ast.Image:
				destination = &n.Destination
			default:
				return ast.WalkContinue, nil
			}
			s.count++
			to, err := s.target(name, string(*destination))
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: link to %s: %w", name, *destination, err))
			}
			*destination = []byte(to)
			return ast.WalkContinue, nil
		})
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// target returns what a link of a page leads to in the site.
func (s *site) target(from, link string) (string, error) {
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return "", err
	case u.Scheme == "https" || u.Scheme == "http" && u.Hostname() == "localhost":
		return link, nil
	case u.Scheme != "" || u.Host != "":
		return "", fmt.Errorf("not an https link")
	}
	to := from
	if u.Path != "" {
		to = path.Join(path.Dir(from), u.Path)
	}
	if p := s.pages[to]; p != nil {
		if u.Fragment != "" && !p.anchors[u.Fragment] {
			return "", fmt.Errorf("%s has no heading #%s", to, u.Fragment)
		}
		if u.Path != "" {
			u.Path = strings.TrimSuffix(u.Path, ".md") + ".html"
			if path.Base(to) == "README.md" {
				u.Path = path.Join(path.Dir(u.Path), "index.html")
			}
		}
		return u.String(), nil
	}
	info, err := fs.Stat(s.root, to)
	if err != nil {
		return "", fmt.Errorf("no such file")
	}
	s.files[to] = true
	if info.IsDir() {
		u.Path = strings.TrimSuffix(u.Path, "/") + "/index.html"
	}
	return u.String(), nil
}

// write writes the pages, the files they link to, and a list for each folder that they link to.
func (s *site) write(dir string) error {
	put := func(name string, data []byte) error {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	}
	for name, p := range s.pages {
		var body bytes.Buffer
		if err := markdown.Renderer().Render(&body, p.source, p.tree); err != nil {
			return err
		}
		html := strings.TrimSuffix(name, ".md") + ".html"
		if path.Base(name) == "README.md" {
			html = path.Join(path.Dir(name), "index.html")
		}
		if err := put(html, frame(p.title, strings.Repeat("../", strings.Count(name, "/")), body.Bytes())); err != nil {
			return err
		}
	}
	for name := range s.files {
		info, err := fs.Stat(s.root, name)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			data, err := fs.ReadFile(s.root, name)
			if err = errors.Join(err, put(name, data)); err != nil {
				return err
			}
			continue
		}
		if err := s.folder(name, put); err != nil {
			return err
		}
	}
	return nil
}

// folder writes the files of a folder and a page that lists them.
func (s *site) folder(name string, put func(string, []byte) error) error {
	entries, err := fs.ReadDir(s.root, name)
	if err != nil {
		return err
	}
	var list strings.Builder
	fmt.Fprintf(&list, "# %s\n\n", name)
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := fs.ReadFile(s.root, path.Join(name, e.Name()))
		if err = errors.Join(err, put(path.Join(name, e.Name()), data)); err != nil {
			return err
		}
		fmt.Fprintf(&list, "* [%s](%s)\n", e.Name(), e.Name())
	}
	p := parse([]byte(list.String()))
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, p.source, p.tree); err != nil {
		return err
	}
	return put(path.Join(name, "index.html"), frame(name, strings.Repeat("../", strings.Count(name, "/")+1), body.Bytes()))
}
