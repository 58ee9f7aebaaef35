package startjob

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// readFolder reads the manifests of a folder as one template of several documents. It parses each file alone first, so
// that errors name the file and the line.
func readFolder(dir string) (*parse.Template, error) {
	files, err := catalogue.Manifests(dir)
	if err != nil {
		return nil, errs.Wrap(err, "cannot read "+dir)
	}
	if len(files) == 0 {
		return nil, errs.NotFoundf("no manifest in %s", dir).WithFact("files", "*.yaml, *.yml, *.json")
	}
	var all bytes.Buffer
	for _, name := range files {
		data, err := bounded.File(name, bounded.Object)
		if err != nil {
			return nil, errs.Wrap(err, "cannot read "+name)
		}
		if _, err := parse.Text(baseName(name), name, data); err != nil {
			return nil, err
		}
		fmt.Fprintf(&all, "---\n%s\n", data)
	}
	return parse.Text(filepath.Base(filepath.Clean(dir)), dir, all.Bytes())
}

// baseName returns the name of a file without its folder and extension.
func baseName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}
