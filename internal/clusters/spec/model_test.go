package spec

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// modelShape is a shape of the service model that botocore comes with.
type modelShape struct {
	Type       string
	Required   []string
	Members    map[string]struct{ Shape string }
	Member     struct{ Shape string }
	Key, Value struct{ Shape string }
	Min, Max   *float64
	Pattern    string
	Enum       []string
	Union      bool
}

// model reads SageMaker's service model, and skips the test where it is not installed.
func model(t *testing.T) map[string]modelShape {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import botocore; print(botocore.__file__)").Output()
	if err != nil {
		t.Skip("botocore is not installed")
	}
	path := filepath.Join(filepath.Dir(strings.TrimSpace(string(out))), "data/sagemaker/2017-07-24/service-2.json")
	var in io.ReadCloser
	if in, err = os.Open(path); errors.Is(err, fs.ErrNotExist) {
		if in, err = os.Open(path + ".gz"); err == nil {
			in, err = gzip.NewReader(in)
		}
	}
	if err != nil {
		t.Skipf("botocore has no model of SageMaker: %v", err)
	}
	defer in.Close()
	var m struct{ Shapes map[string]modelShape }
	if err := json.NewDecoder(in).Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m.Shapes
}

// TestModel compares every member and constraint with SageMaker's service model.
func TestModel(t *testing.T) {
	shapes := model(t)
	compared := 0
	var compare func(s *Shape, name, path string)
	compare = func(s *Shape, name, path string) {
		compared++
		m, ok := shapes[name]
		if !ok {
			t.Fatalf("%s: the model has no shape %s", path, name)
		}
		if string(s.Type) != m.Type {
			t.Errorf("%s: %s, the model has %s", path, s.Type, m.Type)
			return
		}
		least, most := 0, 0
		if m.Min != nil {
			least = int(*m.Min)
		}
		if m.Max != nil {
			most = int(*m.Max)
		}
		if name != "AlarmName" && !s.Open && s.Pattern != m.Pattern {
			t.Errorf("%s: pattern %s, the model has %s", path, s.Pattern, m.Pattern)
		}
		if !s.Open && !slices.Equal(s.Enum, m.Enum) {
			t.Errorf("%s: %q, the model has %q", path, s.Enum, m.Enum)
		}
		for _, word := range m.Enum {
			if s.Open && !whole(s.Pattern, word) {
				t.Errorf("%s: %s is refused", path, word)
			}
		}
		if s.Min != least || s.Max != most || s.Union != m.Union {
			t.Errorf("%s: %d to %d, union %v; the model has %d to %d, %v", path, s.Min, s.Max, s.Union, least, most, m.Union)
		}
		switch s.Type {
		case Structure:
			for member, in := range m.Members {
				own := s.member(member)
				if own == nil {
					t.Errorf("%s has no %s", path, member)
					continue
				}
				if own.Required != slices.Contains(m.Required, member) {
					t.Errorf("%s.%s: required is %v", path, member, own.Required)
				}
				compare(own.Shape, in.Shape, path+"."+member)
			}
			for _, own := range s.Members {
				if _, ok := m.Members[own.Name]; !ok {
					t.Errorf("%s: the model has no %s", path, own.Name)
				}
			}
		case List:
			compare(s.Element, m.Member.Shape, path+"[]")
		case Map:
			compare(s.Key, m.Key.Shape, path+"{}")
			compare(s.Element, m.Value.Shape, path+"{}")
		}
	}
	compare(CreateCluster(), "CreateClusterRequest", "CreateCluster")
	compare(UpdateCluster(), "UpdateClusterRequest", "UpdateCluster")
	compare(UpdateClusterSoftware(), "UpdateClusterSoftwareRequest", "UpdateClusterSoftware")
	if compared < 200 {
		t.Errorf("only %d shapes compared", compared)
	}
	// Every member of a described group is sent back, renamed, or known to be reported only.
	for _, tt := range []struct {
		details string
		group   *Shape
	}{{"ClusterInstanceGroupDetails", Group()}, {"ClusterRestrictedInstanceGroupDetails", restrictedGroup()}} {
		for member := range shapes[tt.details].Members {
			if tt.group.member(member) == nil && !slices.Contains(reported(), member) {
				t.Errorf("%s.%s is not part of a specification, and would be sent back", tt.details, member)
			}
		}
	}
}

// TestModelInstanceTypes: the table of instance types, which decides about the warning for
// an unknown type, has those of the model. ml.r5d.16xlarge is the exception: the table's
// sources do not have it.
func TestModelInstanceTypes(t *testing.T) {
	shapes := model(t)
	text, err := os.ReadFile("../../templates/instances/instances.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for _, name := range shapes["ClusterInstanceType"].Enum {
		if !strings.Contains(string(text), name) && !strings.Contains(string(text), strings.TrimPrefix(name, "ml.")+"\t") {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		t.Error(missing)
	}
}
