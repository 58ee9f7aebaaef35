package factory

import (
	"os/user"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
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

// CheckChoice checks the flags that choose several jobs.
func (f *Factory) CheckChoice(sweep, selector string, mine bool) error {
	if err := checkSweep(sweep); err != nil {
		return err
	}
	if err := checkSelector(selector); err != nil {
		return err
	}
	return f.CheckMine(mine)
}

// CheckMine refuses --mine where the user has no name.
func (f *Factory) CheckMine(mine bool) error {
	if mine && f.User() == "" {
		return errs.Usagef("--mine requires your user name, and the environment has none").WithAdvice("set USER")
	}
	return nil
}
