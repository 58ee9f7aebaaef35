package sandboxcmd

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestKubeconfigFile(t *testing.T) {
	const foreign = "apiVersion: v1\nkind: Config\n# my clusters\n"
	for _, c := range []struct {
		name    string
		own     bool
		prepare func(path string) error
		refused string
	}{
		{name: "a new file", prepare: func(string) error { return nil }},
		{name: "a file that serve left", prepare: func(path string) error {
			return os.WriteFile(path, kubeconfig("lab", "http://127.0.0.1:1", "old", nil), 0o600)
		}},
		{name: "another file in the folder of the sandboxes", own: true, prepare: func(path string) error {
			return os.WriteFile(path, []byte(foreign), 0o644)
		}},
		{name: "a kubeconfig of the user", refused: "the file exists", prepare: func(path string) error {
			return os.WriteFile(path, []byte(foreign), 0o600)
		}},
		{name: "a symbolic link", refused: "not a regular file", prepare: func(path string) error {
			return os.Symlink(filepath.Join(filepath.Dir(path), "target"), path)
		}},
		{name: "a symbolic link in the folder of the sandboxes", own: true, refused: "not a regular file", prepare: func(path string) error {
			return os.Symlink(filepath.Join(filepath.Dir(path), "target"), path)
		}},
		{name: "a folder", refused: "not a regular file", prepare: func(path string) error { return os.Mkdir(path, 0o700) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			target, path := filepath.Join(dir, "target"), filepath.Join(dir, "kubeconfig")
			if err := os.WriteFile(target, kubeconfig("lab", "http://127.0.0.1:1", "target", nil), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := c.prepare(path); err != nil {
				t.Skip(err)
			}
			before, _ := os.ReadFile(path)
			k := kubeconfigFile{path: path, own: c.own}
			err := k.write("lab", "http://127.0.0.1:2", "secret", nil)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("error %v, want %q", err, c.refused)
				}
				if after, _ := os.ReadFile(path); string(after) != string(before) {
					t.Errorf("the file changed to %q", after)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if data, _ := os.ReadFile(path); !strings.Contains(string(data), `token: "secret"`) {
				t.Errorf("content %s", data)
			}
			if k.remove(); exists(path) {
				t.Error("the file stays after the end")
			}
		})
	}
}

// TestKubeconfigFileStays keeps a file that another start wrote in the meantime.
func TestKubeconfigFileStays(t *testing.T) {
	first := kubeconfigFile{path: filepath.Join(t.TempDir(), "kubeconfig")}
	second := first
	for token, k := range map[string]*kubeconfigFile{"a": &first, "b": &second} {
		if err := k.write("lab", "http://127.0.0.1:1", token, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := second.write("lab", "http://127.0.0.1:1", "c", nil); err != nil {
		t.Fatal(err)
	}
	if first.remove(); !exists(first.path) {
		t.Error("the first start removed the second one's file")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
