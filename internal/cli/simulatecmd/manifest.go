package simulatecmd

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// most is how large a manifest may be.
const most = 4 << 20

// read reads a file, or stdin for "-".
func (o *Options) read(path string) ([]byte, error) {
	var r io.Reader = o.Factory.IO.In
	if path != "-" {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errs.NotFoundf("there is no file %s", path).WithCause(err)
		}
		if err != nil {
			return nil, errs.Usagef("cannot read %s", path).WithCause(err)
		}
		defer file.Close()
		r = file
	}
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, errs.Usagef("cannot read %s", path).WithCause(err)
	}
	if len(data) > most {
		return nil, errs.Usagef("%s is too large for a manifest (more than %d MB)", path, most>>20)
	}
	return data, nil
}

// jobs are the objects of a manifest that are jobs.
func (o *Options) jobs(path, namespace string) ([]simulate.Change, error) {
	data, err := o.read(path)
	if err != nil {
		return nil, err
	}
	var out []simulate.Change
	var other []string
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for n := 1; ; n++ {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var head struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err == nil {
			err = yaml.Unmarshal(doc, &head)
		}
		if err != nil {
			return nil, errs.Usagef("%s: document %d is not YAML", path, n).WithCause(err)
		}
		if _, known := kinds.JobFor(head.APIVersion, head.Kind); known || strings.HasSuffix(head.Kind, "Job") {
			out = append(out, simulate.NewJob(path, doc, namespace))
		} else if head.Kind != "" {
			other = append(other, head.Kind)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	e := errs.Usagef("%s holds no job", path).WithFact("jobs are", strings.Join(kinds.JobNames(), ", "))
	if len(other) > 0 {
		e.WithFact("it holds", strings.Join(other, ", "))
	}
	return nil, e
}
