package aws

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ModelShape is a type in the service model that comes with botocore.
type ModelShape struct {
	Type     string
	Min, Max *float64
	Pattern  string
	Enum     []string
	Required []string
	Members  map[string]struct{ Shape string }
	Member   struct{ Shape string }
}

// ServiceModel returns the types of SageMaker's service model, from the botocore that is
// installed for Python. The error says why there is none.
func ServiceModel() (map[string]ModelShape, error) {
	out, err := exec.Command("python3", "-c", "import botocore, os; print(os.path.dirname(botocore.__file__))").Output()
	if err != nil {
		return nil, fmt.Errorf("botocore is not installed: %w", err)
	}
	path := filepath.Join(strings.TrimSpace(string(out)), "data", "sagemaker", "2017-07-24", "service-2.json")
	f, err := os.Open(path + ".gz")
	plain := err != nil
	if plain {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is read only
	var r io.Reader = f
	if !plain {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	var model struct{ Shapes map[string]ModelShape }
	err = json.NewDecoder(r).Decode(&model)
	return model.Shapes, err
}
