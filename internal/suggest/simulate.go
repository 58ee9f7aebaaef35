package suggest

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// SetPolicy changes a setting of a team in a simulation; path is SETTING, or
// SETTING/RESOURCE@FLAVOR.
func SetPolicy(team, path, value string) errs.Suggestion {
	return errs.Option("--set", team+"."+path+"="+value)
}

// policySettings are the settings of a simulation by the code of a policy remedy.
var policySettings = map[string][2]string{
	"NoBorrowingLimit":     {"borrow-limit", "none"},
	"NoLendingLimit":       {"lend-limit", "none"},
	"PreemptLowerPriority": {"preemption", "LowerPriority"},
	"ReclaimAny":           {"reclaim", "Any"},
	"BestEffortFIFO":       {"queueing", "BestEffortFIFO"},
}

// PolicyRemedy makes the change of a policy remedy (its code) to a team in a simulation.
func PolicyRemedy(code, team string) errs.Suggestion {
	s := policySettings[code]
	return SetPolicy(team, s[0], s[1])
}

// AddTeam adds a team like another one in a simulation.
func AddTeam(name, like string) errs.Suggestion { return errs.Option("--add-team", name+"="+like) }

// SetPriority gives a job another priority in a simulation.
func SetPriority(job, priority string) errs.Suggestion {
	return errs.Option("--priority", job+"="+priority)
}

// AddNodes adds nodes in a simulation.
func AddNodes(instanceType, count string) errs.Suggestion {
	return errs.Option("--add-nodes", instanceType+"="+count)
}

// RemoveNodes removes nodes in a simulation.
func RemoveNodes(instanceType, count string) errs.Suggestion {
	return errs.Option("--remove-nodes", instanceType+"="+count)
}

// RemoveJob removes a job in a simulation.
func RemoveJob(namespace, name string) errs.Suggestion {
	return errs.Option("--remove-job", namespace+"/"+name)
}
