package aws

import (
	"path/filepath"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
)

// Profile is a profile of the files of AWS tools.
type Profile struct{ Name, Region string }

// Files returns the files that hold profiles and credentials: config and credentials.
func Files(env func(string) string) []string {
	home := env("HOME")
	if home == "" {
		home = env("USERPROFILE")
	}
	named := func(variable, name string) string {
		if path := env(variable); path != "" {
			return path
		}
		return filepath.Join(home, ".aws", name)
	}
	return []string{named("AWS_CONFIG_FILE", "config"), named("AWS_SHARED_CREDENTIALS_FILE", "credentials")}
}

// Profiles returns the profiles in the files of AWS tools, each once, in their order. A file that cannot be read counts as missing: the
// names only help.
func Profiles(env func(string) string) []Profile {
	var out []Profile
	at := map[string]int{}
	for i, path := range Files(env) {
		data, err := bounded.File(path, bounded.Settings)
		if err != nil {
			continue
		}
		name := "" // of the section; none for a section of another sort, for example [sso-session x]
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if section, ok := strings.CutPrefix(line, "["); ok {
				section, _, _ = strings.Cut(section, "]")
				name = profileOf(strings.TrimSpace(section), i == 0)
				if _, seen := at[name]; name != "" && !seen {
					at[name] = len(out)
					out = append(out, Profile{Name: name})
				}
				continue
			}
			if key, value, ok := strings.Cut(line, "="); ok && name != "" && strings.TrimSpace(key) == "region" {
				out[at[name]].Region = strings.TrimSpace(value)
			}
		}
	}
	return out
}

// profileOf returns the profile that a section is about, "" for none. In the file config, all but the default have a prefix.
func profileOf(section string, config bool) string {
	name, prefixed := strings.CutPrefix(section, "profile ")
	switch {
	case prefixed == config, section == "default":
		return strings.Trim(strings.TrimSpace(name), `"'`)
	}
	return ""
}
