package config

import (
	"path/filepath"
	"runtime"
	"testing"
)

func TestDirectories(t *testing.T) {
	home, xdg := t.TempDir(), t.TempDir()
	vars := map[string]string{}
	env := func(name string) string { return vars[name] }
	for _, tt := range []struct {
		goos                     string
		vars                     map[string]string
		variable, below, windows string
		want                     string
	}{
		{"linux", map[string]string{"HOME": home}, "XDG_STATE_HOME", ".local/state", "LocalAppData", filepath.Join(home, ".local", "state", "hyperpod")},
		{"linux", map[string]string{"HOME": home, "XDG_STATE_HOME": xdg}, "XDG_STATE_HOME", ".local/state", "LocalAppData", filepath.Join(xdg, "hyperpod")},
		{"linux", map[string]string{"XDG_STATE_HOME": xdg}, "XDG_STATE_HOME", ".local/state", "LocalAppData", filepath.Join(xdg, "hyperpod")},
		{"linux", map[string]string{"HOME": home, "XDG_STATE_HOME": "relative"}, "XDG_STATE_HOME", ".local/state", "LocalAppData", filepath.Join(home, ".local", "state", "hyperpod")},
		{"darwin", map[string]string{"HOME": home, "LocalAppData": xdg}, "XDG_STATE_HOME", ".local/state", "LocalAppData", filepath.Join(home, ".local", "state", "hyperpod")},
		{"windows", map[string]string{"USERPROFILE": home, "LocalAppData": xdg}, "XDG_STATE_HOME", ".local/state", "LocalAppData", filepath.Join(xdg, "hyperpod")},
		{"windows", map[string]string{"USERPROFILE": home}, "XDG_STATE_HOME", ".local/state", "LocalAppData", filepath.Join(home, ".local", "state", "hyperpod")},
	} {
		vars = tt.vars
		if got, err := base(env, tt.goos, tt.variable, tt.below, tt.windows); got != tt.want || err != nil {
			t.Errorf("%s %v: %s %v", tt.goos, tt.vars, got, err)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	vars = map[string]string{"HOME": home, "XDG_CACHE_HOME": xdg}
	for want, dir := range map[string]func(func(string) string) (string, error){
		filepath.Join(home, ".config", "hyperpod"):         ConfigDir,
		filepath.Join(home, ".local", "state", "hyperpod"): StateDir,
		filepath.Join(xdg, "hyperpod"):                     CacheDir,
	} {
		if got, err := dir(env); got != want || err != nil {
			t.Errorf("got %s %v, want %s", got, err, want)
		}
	}
}

func TestExpand(t *testing.T) {
	home := t.TempDir()
	env := func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] }
	for _, tt := range []struct{ path, base, want string }{
		{"~", "/b", home}, {"~/x", "/b", filepath.Join(home, "x")}, {"~user/x", "", "~user/x"}, {"x~", "", "x~"},
		{"", "/b", ""}, {"rel", "", "rel"}, {"rel", home, filepath.Join(home, "rel")}, {home, "/b", home},
	} {
		if got := expand(tt.path, tt.base, env); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}
