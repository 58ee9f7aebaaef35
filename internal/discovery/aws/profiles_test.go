package aws

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestProfiles: profiles of both files, once each; sections of another sort and files that are missing have none.
func TestProfiles(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{"HOME": dir, "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(dir, "secret")}
	get := func(name string) string { return env[name] }
	if got := Profiles(get); got != nil {
		t.Errorf("without files: %v", got)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, ".aws", "config"), "region = us-gov-west-1\n[default]\nregion=us-west-2\n# [profile no]\n[ profile prod ]\nregion = us-east-1\n[sso-session corp]\nsso_region = eu-west-1\nregion = eu-west-2\n[profile \"two words\"]\n[stray]\n")
	write(env["AWS_SHARED_CREDENTIALS_FILE"], "[prod]\naws_access_key_id = x\n[old]\n[profile no]\n[default]\n")
	want := []Profile{{"default", "us-west-2"}, {"prod", "us-east-1"}, {"two words", ""}, {"old", ""}}
	if got := Profiles(get); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRegionsAreValid(t *testing.T) {
	for _, r := range Regions() {
		if !ValidRegion(r) {
			t.Errorf("%q", r)
		}
	}
}
