package factory

import (
	"os/user"
	"strings"
)

// User is the login name of whoever runs the program, "" when it cannot be told:
// as the environment says (USER, LOGNAME, on Windows USERNAME), else as the
// system's accounts do, for an environment may be without it (cron, containers).
func (f *Factory) User() string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if v := f.Env(name); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil && u.Username != u.Uid {
		// On Windows the domain comes before the name.
		return u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
	}
	return ""
}
