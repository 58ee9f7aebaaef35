package slurm

import (
	"slices"
	"strings"
)

// standard are the variables of sbatch that set a default of the user or of the site. sbatch
// puts any variable of its own above the script.
var standard = []string{"SBATCH_PARTITION", "SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_TIMELIMIT", "SBATCH_RESERVATION"}

// SbatchEnvironment returns the variables under which sbatch does what the script says. Variables
// that would change it are left out and named in dropped; those that set what the script
// leaves open stay, and are named in used.
func (s Script) SbatchEnvironment(environ []string) (out, used, dropped []string) {
	stated := map[string]bool{"SBATCH_PARTITION": s.Partition != "", "SBATCH_ACCOUNT": s.Account != "", "SBATCH_QOS": s.QOS != "", "SBATCH_TIMELIMIT": s.Minutes > 0}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case !strings.HasPrefix(name, "SBATCH_"):
		case value == "":
			continue
		case slices.Contains(standard, name) && !stated[name]:
			used = append(used, v)
		default:
			dropped = append(dropped, name)
			continue
		}
		out = append(out, v)
	}
	slices.Sort(used)
	slices.Sort(dropped)
	return out, used, dropped
}
