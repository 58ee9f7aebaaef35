package values

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// filled sets every field of a struct to something that is not zero.
func filled(v reflect.Value, seed int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			filled(v.Field(i), seed+i)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), seed)
	case reflect.String:
		v.SetString(string(rune('a' + seed%26)))
	case reflect.Int:
		v.SetInt(int64(seed + 1))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0), seed)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		filled(key, seed)
		if value.Kind() != reflect.Interface {
			filled(value, seed)
		}
		v.SetMapIndex(key, value)
	}
}

// Nothing that a file says is lost when no flag says anything, whatever fields
// Values will have; and nothing a flag says is lost to the file.
func TestOverLosesNothing(t *testing.T) {
	var all Values
	filled(reflect.ValueOf(&all).Elem(), 0)
	if diff := cmp.Diff(all, Values{}.Over(all)); diff != "" {
		t.Errorf("of the file: %s", diff)
	}
	if diff := cmp.Diff(all, all.Over(Values{})); diff != "" {
		t.Errorf("of the flags: %s", diff)
	}
}

func TestOver(t *testing.T) {
	flags := Values{Image: "b", NodeCount: Int(2), Environment: map[string]string{"A": "1"}, SecretEnv: []SecretEnv{{Name: "B", Secret: "s", Key: "k"}},
		Volumes: []Volume{{Name: "x", Type: EmptyDir, MountPath: "/data/"}}, TasksBy: "gpu", Partition: "1g.10gb", PreferredTopology: "rack"}
	file := Values{Image: "a", NodeCount: Int(4), Environment: map[string]string{"A": "0", "B": "2", "C": "3"}, SecretEnv: []SecretEnv{{Name: "A", Secret: "s", Key: "k"}},
		Volumes: []Volume{{Name: "y", Type: EmptyDir, MountPath: "/data"}, {Name: "z", Type: EmptyDir, MountPath: "/z"}}, TasksPerNode: Int(8), Accelerators: Int(8), RequiredTopology: "zone"}
	got := flags.Over(file)
	want := flags
	want.Environment = map[string]string{"A": "1", "C": "3"}
	want.Volumes = []Volume{file.Volumes[1], flags.Volumes[0]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if file.Environment["B"] != "2" || len(file.Volumes) != 2 {
		t.Errorf("the file's values were changed: %+v", file)
	}
}
