package quota

import (
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Resources returns every resource that a team or cohort has quota of, uses or
// waits for, sorted. Quota of zero counts only with all.
func (r *Report) Resources(all bool) []string {
	seen := map[string]bool{}
	for i := range r.Teams {
		for _, row := range r.Teams[i].Resources {
			pending := row.Pending != nil && *row.Pending > 0
			seen[row.Resource] = seen[row.Resource] || all || row.Nominal > 0 || row.Reserved > 0 || pending
		}
	}
	for _, c := range r.Tree.cohorts {
		for k, q := range c.quotas {
			seen[k.Resource] = seen[k.Resource] || all || q.nominal > 0
		}
	}
	maps.DeleteFunc(seen, func(_ string, on bool) bool { return !on })
	return slices.Sorted(maps.Keys(seen))
}

// MainResources returns the accelerators among resources, or where there are none,
// cpu and memory.
func MainResources(resources []string) []string {
	var out []string
	for _, name := range resources {
		if kinds.Accelerator(name) {
			out = append(out, name)
		}
	}
	for _, name := range []string{cpu, "memory"} {
		if slices.Contains(resources, name) && (len(out) == 0 || out[0] == cpu) {
			out = append(out, name)
		}
	}
	return out
}

// ShortNames returns the part after the slash of each resource (gpu, neurondevice, efa), or the whole name if another
// resource has the same short name. FindResource accepts them.
func ShortNames(resources []string) map[string]string {
	out, times := map[string]string{}, map[string]int{}
	for _, r := range resources {
		out[r] = r[strings.Index(r, "/")+1:]
		times[out[r]]++
	}
	for r, short := range out {
		if times[short] > 1 {
			out[r] = r
		}
	}
	return out
}

// FindResource returns the resource that a user means: by its name, or by what
// follows the slash (gpu, mig-1g.10gb, neurondevice, efa), in any case.
func FindResource(name string, resources []string) (string, bool) {
	lower := strings.ToLower(strings.TrimSpace(name))
	if lower == "mem" {
		lower = "memory"
	}
	for _, r := range resources {
		if strings.ToLower(r) == lower {
			return r, true
		}
	}
	for _, r := range resources {
		if _, short, ok := strings.Cut(strings.ToLower(r), "/"); ok && short == lower {
			return r, true
		}
	}
	return "", false
}
