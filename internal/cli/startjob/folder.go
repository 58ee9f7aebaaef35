package startjob

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
)

// readFolder reads the manifests of a folder as one template of several documents. It parses each file alone first, so
// that errors name the file and the line.
func (r *run) readFolder(ctx context.Context, dir string) (*parse.Template, error) {
	files, err := factory.ManifestsIn(dir)
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	var parts []parse.Part
	var faults error
	for _, name := range files {
		data, err := r.factory.ReadNamed(ctx, name)
		if err != nil {
			return nil, err
		}
		if _, err := render.Read(baseName(name), name, data, r.allow, r.options.gave); err != nil {
			faults = errs.Also(faults, err)
			continue
		}
		parts = append(parts, parse.Part{Source: name, Line: bytes.Count(all.Bytes(), []byte("\n")) + 1})
		fmt.Fprintf(&all, "---\n%s\n", data)
		if all.Len() > manifest.MaxBytes {
			break // the files together are too large, which the parser reports
		}
	}
	if faults != nil {
		return nil, faults
	}
	t, err := parse.TextAllowing(filepath.Base(filepath.Clean(dir)), dir, all.Bytes(), r.allow)
	if t != nil {
		t.Parts = parts
	}
	return t, err
}

// baseName returns the name of a file without its folder and extension.
func baseName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}
