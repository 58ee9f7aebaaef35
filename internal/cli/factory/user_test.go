package factory

import (
	"os/user"
	"testing"
)

// TestUser: without USER the system's account is asked; nothing is made up.
func TestUser(t *testing.T) {
	env := map[string]string{}
	f := &Factory{Env: func(name string) string { return env[name] }}
	want := ""
	if u, err := user.Current(); err == nil && u.Username != u.Uid {
		want = u.Username
	}
	if got := f.User(); got == "" && want != "" || len(got) > len(want) {
		t.Errorf("user %q, the system says %q", got, want)
	}
	env["LOGNAME"] = "ada"
	if got := f.User(); got != "ada" {
		t.Errorf("LOGNAME: %q", got)
	}
	env["USER"] = "grace"
	if got := f.User(); got != "grace" {
		t.Errorf("USER: %q", got)
	}
}
