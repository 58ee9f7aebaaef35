package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestSetupAction runs the script of the action with a curl that copies files: it installs a version with and without v, and
// refuses an archive whose sum is not the one of the release.
func TestSetupAction(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "tar", "sha256sum"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	text, err := os.ReadFile("../../.github/actions/setup-hyperpod/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Runs struct {
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil || len(action.Runs.Steps) != 1 {
		t.Fatalf("%v, %d steps", err, len(action.Runs.Steps))
	}
	dir := t.TempDir()
	prepare := `cd "$1" && mkdir bin release && echo program > hyperpod
tar -czf release/hyperpod_1.2.3_linux_amd64.tar.gz hyperpod && cp release/hyperpod_1.2.3_linux_amd64.tar.gz release/hyperpod_6.6.6_linux_amd64.tar.gz
(cd release && sha256sum hyperpod_1.2.3_linux_amd64.tar.gz > checksums.txt && echo "$(printf '0%.0s' {1..64})  hyperpod_6.6.6_linux_amd64.tar.gz" >> checksums.txt)
printf '#!/bin/bash\nfor a; do case $a in https*) cp "$RELEASE/${a##*/}" . || exit 22;; esac; done\n' > bin/curl && chmod +x bin/curl`
	if out, err := exec.Command("bash", "-c", prepare, "prepare", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for version, ok := range map[string]bool{"1.2.3": true, "v1.2.3": true, "6.6.6": false, "9": false, "1.2.3/..": false} {
		path := filepath.Join(dir, "path-"+strings.ReplaceAll(version, "/", "-"))
		c := exec.Command("bash", "-c", action.Runs.Steps[0].Run)
		c.Env = append(os.Environ(), "VERSION="+version, "RUNNER_OS=Linux", "RUNNER_ARCH=X64", "RUNNER_TEMP="+dir, "GITHUB_PATH="+path,
			"RELEASE="+filepath.Join(dir, "release"), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		installed, _ := os.ReadFile(path)
		if (err == nil) != ok || (len(installed) > 0) != ok {
			t.Errorf("%s: %v, %q, %s", version, err, installed, out)
		}
	}
}
