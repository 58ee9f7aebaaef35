// Command checkrelease reads a release configuration as strictly as goreleaser
// does: a field that goreleaser does not know is an error. A module of its own,
// so that it costs the product nothing.
package main

import (
	"fmt"
	"os"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: checkrelease .goreleaser.yaml")
		os.Exit(2)
	}
	project, err := config.Load(os.Args[1])
	if err == nil && len(project.Builds) == 0 {
		err = fmt.Errorf("it builds nothing")
	}
	for _, p := range project.NFPMs {
		// tools/packages and docs/install.md have these names; goreleaser's own are others.
		if want := "{{ .ConventionalFileName }}"; err == nil && p.FileNameTemplate != want {
			err = fmt.Errorf("nfpms: file_name_template is %q, must be %q", p.FileNameTemplate, want)
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
