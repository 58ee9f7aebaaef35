package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// folder is the name of hyperpod's folder in each base directory.
const folder = "hyperpod"

// locationVariable names the configuration file, instead of the usual place.
const locationVariable = "HYPERPOD_CONFIG"

// Directories follow the XDG base directory specification, on macOS too, where
// command-line programs are looked for there; variables that are not absolute
// are ignored, as it demands. On Windows they are below %AppData% and
// %LocalAppData%.

// ConfigDir returns the folder of the configuration file.
func ConfigDir(env func(string) string) (string, error) {
	return base(env, runtime.GOOS, "XDG_CONFIG_HOME", ".config", "AppData")
}

// StateDir returns the folder for files that must be kept, such as sandboxes.
func StateDir(env func(string) string) (string, error) {
	return base(env, runtime.GOOS, "XDG_STATE_HOME", ".local/state", "LocalAppData")
}

// CacheDir returns the folder for files that can be deleted at any time.
func CacheDir(env func(string) string) (string, error) {
	if runtime.GOOS == "darwin" && !filepath.IsAbs(env("XDG_CACHE_HOME")) {
		return base(env, runtime.GOOS, "", "Library/Caches", "")
	}
	dir, err := base(env, runtime.GOOS, "XDG_CACHE_HOME", ".cache", "LocalAppData")
	if runtime.GOOS == "windows" && err == nil {
		dir = filepath.Join(dir, "cache")
	}
	return dir, err
}

func base(env func(string) string, goos, variable, below, windows string) (string, error) {
	if dir := env(variable); variable != "" && filepath.IsAbs(dir) {
		return filepath.Join(dir, folder), nil
	}
	if goos == "windows" {
		if dir := env(windows); dir != "" {
			return filepath.Join(dir, folder), nil
		}
	}
	home, err := homeDir(env, goos)
	if err != nil {
		return "", err
	}
	return filepath.Join(home, filepath.FromSlash(below), folder), nil
}

// homeDir returns the user's home, which some containers and services lack.
func homeDir(env func(string) string, goos string) (string, error) {
	variable := "HOME"
	if goos == "windows" {
		variable = "USERPROFILE"
	}
	home := env(variable)
	switch {
	case home == "":
		return "", errs.New("no home directory", variable+" is not set").
			WithAdvice("set " + variable + ", or XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_CACHE_HOME")
	case !filepath.IsAbs(home):
		return "", errs.New("no home directory", variable+" is not an absolute path: "+home)
	}
	return home, nil
}

// location returns the configuration file's path, and whether the user named it.
func location(env func(string) string) (path string, named bool, err error) {
	if path := env(locationVariable); path != "" {
		path, err := filepath.Abs(expand(path, "", env))
		return path, true, err
	}
	dir, err := ConfigDir(env)
	if err != nil {
		return "", false, err
	}
	return filepath.Join(dir, "config.yaml"), false, nil
}

// expand replaces a leading "~" by the home folder and lays a relative path
// below base.
func expand(path, base string, env func(string) string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := homeDir(env, runtime.GOOS); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if path == "" || base == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}
