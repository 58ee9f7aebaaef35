package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/present/notetext"
)

// The marks around the table of Kueue's versions.
const (
	versionsBegin = "<!-- kueue versions -->\n"
	versionsEnd   = "<!-- end of kueue versions -->"
)

// kueueVersions puts the table of differences between versions of Kueue into docs/compatibility.md.
func kueueVersions(files map[string][]byte) error {
	path := filepath.Join("docs", "compatibility.md")
	page, ok := files[path]
	if !ok {
		var err error
		if page, err = os.ReadFile(path); err != nil {
			return err
		}
	}
	before, rest, found := bytes.Cut(page, []byte(versionsBegin))
	_, after, ended := bytes.Cut(rest, []byte(versionsEnd))
	if !found || !ended {
		return fmt.Errorf("%s: no marks around the table of Kueue's versions", path)
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(versionsBegin)
	b.WriteString("| since | decisions about | code | change |\n|---|---|---|---|\n")
	for _, d := range versions.All() {
		fmt.Fprintf(&b, "| %s | %s | `%s` | [#%d](https://github.com/kubernetes-sigs/kueue/pull/%[4]d) |\n",
			strings.Join(d.Since, ", "), notetext.Difference(string(d.Code)), d.Code, d.Pull)
	}
	b.WriteString(versionsEnd)
	b.Write(after)
	files[path] = b.Bytes()
	return nil
}
