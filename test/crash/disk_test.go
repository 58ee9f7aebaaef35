//go:build linux

package crash

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inside is the role of this program in its own mount namespace.
const inside = "HYPERPOD_TEST_DISK"

// fullDisk are commands that write to a disk. setup writes the file for the first time, while there is space. $FULL is a
// folder of the disk, and the working folder.
var fullDisk = []struct {
	name        string
	setup, args string
	file        string   // below $FULL
	env         []string // beyond those of a home folder elsewhere
}{
	{name: "settings", setup: "config set output json", args: "config set output wide", file: "hyperpod/config.yaml", env: []string{"XDG_CONFIG_HOME=$FULL"}},
	{name: "new settings", args: "config set output wide", file: "new/hyperpod/config.yaml", env: []string{"XDG_CONFIG_HOME=$FULL/new"}},
	{name: "sandbox create", args: "sandbox create lab", file: "hyperpod/sandboxes/lab.json", env: []string{"XDG_STATE_HOME=$FULL"}},
	{name: "sandbox advance", setup: "sandbox create lab", args: "sandbox advance 1m", file: "hyperpod/sandboxes/lab.json", env: []string{"XDG_STATE_HOME=$FULL"}},
	{name: "start-job", setup: "sandbox create lab", args: "start-job new --template smpv2-llama2 -n " + namespace, file: "hyperpod/sandboxes/lab.json", env: []string{"XDG_STATE_HOME=$FULL"}},
	{name: "sandbox serve", args: "sandbox serve --write-kubeconfig $FULL/kubeconfig", file: "kubeconfig"},
	{name: "snapshot", setup: "save-snapshot $FULL/s.json", args: "save-snapshot $FULL/s.json", file: "s.json"},
	{name: "compressed snapshot", args: "save-snapshot $FULL/s.json.gz", file: "s.json.gz"},
	{name: "template", args: "create-template mine --from pytorch --project", file: "jobs/mine.yaml"},
	{name: "template that is replaced", setup: "create-template mine --from pytorch --project", args: "create-template mine --from ddp-cpu --project --replace", file: "jobs/mine.yaml"},
	{name: "governance export", setup: "governance export -f $FULL/teams.yaml", args: "governance export -f $FULL/teams.yaml", file: "teams.yaml"},
	{name: "governance plan", args: "governance plan -f $TEAMS --out $FULL/plan", file: "plan"},
	{name: "governance apply", args: "governance apply -f $TEAMS --yes --backup $FULL/before.yaml", file: "before.yaml"},
	{name: "record", args: "record --samples 1 --directory $FULL/store", file: "store"},
	{name: "copy-file", setup: "copy-file $TEAMS vit-huge:/tmp/teams -n hyperpod-ns-researchers\ncopy-file vit-huge:/tmp/teams $FULL/teams -n hyperpod-ns-researchers",
		args: "copy-file vit-huge:/tmp/teams $FULL/teams -n hyperpod-ns-researchers", file: "teams"},
	{name: "start-job --edit", args: "start-job new --template smpv2-llama2 -n " + namespace + " --edit", file: "hyperpod-start-job-", env: []string{"TMPDIR=$FULL", "EDITOR=true"}},
}

// TestFullDisk runs commands that write, on a disk without space. The error names the reason, the file and what to do; the
// old file is whole; nothing new is left.
func TestFullDisk(t *testing.T) {
	if os.Getenv(inside) == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), self, "-test.run", "^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"="+t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
		out, err := cmd.CombinedOutput()
		var refused *fs.PathError
		switch {
		case errors.As(err, &refused) && errors.Is(err, syscall.EPERM), bytes.Contains(out, []byte("--- SKIP")):
			t.Skip("this machine allows no mount namespaces")
		case err != nil || !bytes.Contains(out, []byte("--- PASS")):
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	full := os.Getenv(inside)
	if err := syscall.Mount("tmpfs", full, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip(err)
	}
	h := newHome(t)
	for _, c := range fullDisk {
		t.Run(c.name, func(t *testing.T) { h.onFullDisk(t, full, c.setup, c.args, c.file, c.env) })
	}
	// What only saves time is left out.
	fill(t, full)
	cmd := h.command("list-jobs", "-n", namespace)
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+full)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "no space") {
		t.Errorf("list-jobs with a full cache: %v\n%s", err, out)
	}
	// A command in a pod of the sandbox fails like one in a pod.
	ballast := filepath.Join(full, "ballast")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	lab := func(args ...string) (string, error) {
		cmd := h.command(args...)
		cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+full)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := lab("sandbox", "create", "lab"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	write := func(file string) (string, error) {
		return lab("exec", "vit-huge", "-n", "hyperpod-ns-researchers", "--", "sh", "-c", "echo text > "+file+" && echo written")
	}
	if out, err := write("/tmp/first"); err != nil || !strings.Contains(out, "written") {
		t.Fatalf("%v\n%s", err, out)
	}
	fill(t, full)
	if out, err := write("/tmp/second"); err == nil || strings.Contains(out, "written") || !strings.Contains(out, "write error: no space left on device") {
		t.Errorf("exec that writes to a full disk: %v\n%s", err, out)
	}
}

// onFullDisk runs a command on a disk that has space for setup only.
func (h home) onFullDisk(t *testing.T, full, setup, args, file string, env []string) {
	teams, err := filepath.Abs("../../examples/teams.yaml")
	if err != nil {
		t.Fatal(err)
	}
	run := func(line string) (string, error) {
		cmd := h.command(strings.Fields(strings.NewReplacer("$FULL", full, "$TEAMS", teams).Replace(line))...)
		cmd.Dir = full
		for _, v := range env {
			cmd.Env = append(cmd.Env, strings.ReplaceAll(v, "$FULL", full))
		}
		cmd.WaitDelay = time.Second
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for line := range strings.Lines(setup) {
		if out, err := run(line); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	path := filepath.Join(full, file)
	old, _ := os.ReadFile(path)
	before := files(t, full)
	ballast := fill(t, full)
	out, err := run(args)
	if err == nil || !strings.Contains(out, "no space left on device") || !strings.Contains(out, filepath.Base(file)) || !strings.Contains(out, "advice:") {
		t.Errorf("%s: %v\n%s", args, err, out)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, old) {
		t.Errorf("%s changed: %d bytes, had %d", file, len(now), len(old))
	}
	for name := range files(t, full) {
		if !before[name] {
			t.Errorf("%s is left", name)
		}
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(full, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// fill fills the rest of a disk with a file.
func fill(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 64<<10); len(block) > 0; {
		n, err := f.Write(block)
		if errors.Is(err, syscall.ENOSPC) {
			block = block[:(len(block)-n)/2]
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// files are the files below a folder.
func files(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[strings.TrimPrefix(path, dir+"/")] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
