package factory

import (
	"os/user"
	"strings"
)

// User returns the login name of the user, empty if it is unknown. The environment (USER, LOGNAME, on Windows USERNAME)
// wins over the accounts of the system; cron and containers may have no such variable.
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
