package startjob

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// readFolder reads the manifests of a folder as one template of several documents. It parses each file alone first, so
// that errors name the file and the line.
func (r *run) readFolder(ctx context.Context, dir string) (*parse.Template, error) {
	files, err := factory.ManifestsIn(dir)
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	for _, name := range files {
		data, err := r.factory.ReadNamed(ctx, name)
		if err != nil {
			return nil, err
		}
		if _, err := parse.Text(baseName(name), name, data); err != nil {
			return nil, err
		}
		fmt.Fprintf(&all, "---\n%s\n", data)
		if all.Len() > manifest.MaxBytes {
			break // the files together are too large, which the parser reports
		}
	}
	return parse.Text(filepath.Base(filepath.Clean(dir)), dir, all.Bytes())
}

// baseName returns the name of a file without its folder and extension.
func baseName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}
