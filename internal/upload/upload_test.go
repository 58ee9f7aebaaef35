package upload

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

func folder(t *testing.T, files map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func paths(f Files) (out []string) {
	for _, file := range f.Files {
		out = append(out, file.Path)
	}
	return out
}

// A name that is not UTF-8, which an archive or a ConfigMap could change, is an error that names it.
func TestListNames(t *testing.T) {
	root := folder(t, map[string]string{"a.py": "1"})
	bad := "b\xff\xfe"
	if err := os.WriteFile(filepath.Join(root.Name(), bad), nil, 0o600); err != nil {
		t.Skip(err) // not every file system has such names
	}
	var file *fs.PathError
	if _, err := List(root, MaxBytes, MaxFiles); !errors.As(err, &file) || file.Path != bad || file.Err.Error() != "the name is not valid UTF-8" {
		t.Error(err)
	}
}

func TestCollect(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		want    []string
		secrets []string
		large   bool
	}{
		"code":                    {map[string]string{"train.py": "1", "pkg/a.py": "2", ".git/HEAD": "x", "pkg/__pycache__/a.pyc": "x"}, []string{"pkg/a.py", "train.py"}, nil, false},
		"ignored files":           {map[string]string{".gitignore": "*.log\n/out/\n!keep.log\n# note\n", "a.log": "", "keep.log": "1", "out/x": "", "sub/out/y": "1", "sub/b.log": ""}, []string{".gitignore", "keep.log", "sub/out/y"}, nil, false},
		"a .gitignore further in": {map[string]string{"sub/.gitignore": "data\n", "sub/data/x": "", "data/y": "1"}, []string{"data/y", "sub/.gitignore"}, nil, false},
		"secrets":                 {map[string]string{"a.py": "", ".env": "", "k/id_rsa": "", "tls/server.PEM": "", ".aws/credentials": "", "id_rsa.pub": "", ".env.example": ""}, nil, []string{".aws/", ".env", "k/id_rsa", "tls/server.PEM"}, false},
		"ignored secrets":         {map[string]string{".gitignore": ".env\n", ".env": "", "a.py": ""}, []string{".gitignore", "a.py"}, nil, false},
		"too large":               {map[string]string{"a": strings.Repeat("x", MaxBytes/2), "b": strings.Repeat("x", MaxBytes/2+1)}, nil, nil, true},
		"as large as it may be":   {map[string]string{"a": strings.Repeat("x", MaxBytes/2), "b": strings.Repeat("x", MaxBytes/2)}, []string{"a", "b"}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Collect(folder(t, c.files))
			var secrets *SecretsError
			if errors.As(err, &secrets) && !slices.Equal(secrets.Paths, c.secrets) || secrets == nil && c.secrets != nil {
				t.Errorf("%v", err)
			}
			if errors.As(err, new(*TooLargeError)) != c.large || err != nil && c.secrets == nil && !c.large {
				t.Errorf("%v", err)
			}
			if !slices.Equal(paths(got), c.want) {
				t.Errorf("%q", paths(got))
			}
		})
	}
	if _, err := Collect(folder(t, nil)); !errors.Is(err, ErrNothing) {
		t.Errorf("%v", err)
	}
}

func TestCollectLinks(t *testing.T) {
	root := folder(t, map[string]string{"a/train.py": "1"})
	for link, target := range map[string]string{"loop": ".", "a/up": "..", "main.py": "a/train.py", "out": "../../etc/passwd", "self": "self"} {
		if err := root.Symlink(target, link); err != nil {
			t.Skip("no symbolic links")
		}
	}
	got, err := Collect(root)
	if err != nil || !slices.Equal(paths(got), []string{"a/train.py", "main.py"}) || !slices.Equal(got.Links, []string{"a/up", "loop", "out", "self"}) {
		t.Errorf("%q, left out %q, %v", paths(got), got.Links, err)
	}
}

// A .gitignore without an end is refused: a part of it would let files through.
func TestHostileIgnoreFile(t *testing.T) {
	root := folder(t, map[string]string{".gitignore": strings.Repeat("#\n", maxIgnoreFile/2) + "secret.py\n", "secret.py": "1"})
	if _, err := Collect(root); !errors.As(err, new(*bounded.TooLarge)) || !strings.Contains(err.Error(), ".gitignore") {
		t.Errorf("%v", err)
	}
}

func TestAttach(t *testing.T) {
	job := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "j", "namespace": "ns"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "a"}, map[string]any{"name": "b", "workingDir": "/w"}}}}}}
	files := Files{Files: []File{{Path: "run.sh", Data: []byte("#!"), Executable: true}, {Path: "d/x y.bin", Data: []byte{0xff, 0}}}}
	made, err := files.Attach(job, "/code")
	if err != nil || made.Started != 1 || made.Kept != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	if kinds.Text(made.ConfigMap, "metadata", "name") != "j-code" || kinds.Text(made.ConfigMap, "data", "000-run.sh") != "#!" || kinds.Text(made.ConfigMap, "binaryData", "001-x_y.bin") != "/wA=" {
		t.Errorf("%v", made.ConfigMap)
	}
	pod := kinds.At(job, "spec", "template", "spec").(map[string]any)
	volume := pod["volumes"].([]any)[0].(map[string]any)["configMap"].(map[string]any)
	items := volume["items"].([]any)
	first, second := items[0].(map[string]any), items[1].(map[string]any)
	if volume["name"] != "j-code" || first["path"] != "run.sh" || first["mode"] != int64(0o555) || second["path"] != "d/x y.bin" || second["mode"] != nil {
		t.Errorf("%v", volume)
	}
	for i, dir := range []string{"/code", "/w"} {
		c := pod["containers"].([]any)[i].(map[string]any)
		mount := c["volumeMounts"].([]any)[0].(map[string]any)
		if c["workingDir"] != dir || mount["mountPath"] != "/code" || mount["readOnly"] != true {
			t.Errorf("%v", c)
		}
	}
	made, err = files.Attach(job, "/code")
	if err != nil || made.Replaces != "j-code" || len(pod["volumes"].([]any)) != 1 || len(pod["containers"].([]any)[0].(map[string]any)["volumeMounts"].([]any)) != 1 {
		t.Errorf("a second upload: %+v, %v", made, err)
	}
}
