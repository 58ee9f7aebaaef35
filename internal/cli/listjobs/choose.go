package listjobs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// The orders of --sort-by. Numbers and times sort from the largest, names from a.
var orders = []string{"name", "state", "age", "size", "owner", "priority", "runtime", "waiting"}

// owner returns who created the job, as far as its label or annotation says.
func (r row) owner() string { return jobs.Creator(r.job.Labels, r.job.Annotations) }

// ownerName returns the owner, inferred or not, for the order.
func ownerName(r row) string {
	name, _ := jobs.OwnerOf(r.job)
	return name
}

// size returns the number of accelerators that the job requests, of any kind.
func (r row) size() (n int64) {
	for _, d := range jobs.Devices(r.job) {
		n += d
	}
	return n
}

// nothing says that there are no jobs in a scope, or none that the options choose.
func (o *Options) nothing(scope string) string {
	switch {
	case o.Sweep != "":
		return "no jobs of sweep " + o.Sweep
	case len(o.StateNames) > 0 || o.Mine || o.Idle || o.Since != nil || o.Selector != "" || o.Kind != "":
		return "no matching jobs in " + scope
	}
	return "no jobs in " + scope
}

// wanted reports whether the options choose a job.
func (o *Options) wanted(r row, now time.Time) bool {
	return r.status.State.Named(o.StateNames) &&
		(!o.Mine || r.owner() == o.Factory.User()) &&
		(o.Since == nil || !r.job.CreationTimestamp.Before(o.Since.At(now)))
}

// sorted sorts rows in place, or returns those of a sweep in the order of its parameters where --sort-by is not given.
func (o *Options) sorted(rows []row, now time.Time) []row {
	sortRows(rows, o.SortBy, now)
	if o.Sweep == "" || o.SortBy != "" {
		return rows
	}
	list := make([]sweep.Member, len(rows))
	for i, r := range rows {
		_, list[i].Point = sweep.Of(r.job.Labels, r.job.Annotations)
		list[i].Created = r.job.CreationTimestamp
		list[i].Position, _ = strconv.Atoi(r.job.Annotations[kinds.SweepPositionAnnotation])
	}
	out := make([]row, len(rows))
	for to, from := range sweep.Order(list) {
		out[to] = rows[from]
	}
	slices.SortStableFunc(out, func(a, b row) int { return strings.Compare(a.job.Namespace, b.job.Namespace) })
	return out
}

// sortRows sorts by namespace and name, or as by says.
func sortRows(rows []row, by string, now time.Time) {
	lasted := func(r row, waited bool) time.Duration {
		run, wait := jobs.RunTimes(r.job, r.status, now)
		if waited {
			run = wait
		}
		if run == nil {
			return -1
		}
		return *run
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		c := 0
		switch by {
		case "name":
			c = strings.Compare(a.job.Name, b.job.Name)
		case "state":
			c = slices.Index(jobs.StateNames(), string(a.status.State)) - slices.Index(jobs.StateNames(), string(b.status.State))
		case "age":
			c = a.job.CreationTimestamp.Compare(b.job.CreationTimestamp)
		case "size":
			c = cmp.Compare(b.size(), a.size())
		case "owner":
			c = strings.Compare(ownerName(a), ownerName(b))
		case "priority":
			c = strings.Compare(a.job.Priority(), b.job.Priority())
		case "runtime":
			c = cmp.Compare(lasted(b, false), lasted(a, false))
		case "waiting":
			c = cmp.Compare(lasted(b, true), lasted(a, true))
		}
		return cmp.Or(c, strings.Compare(a.job.Namespace, b.job.Namespace), strings.Compare(a.job.Name, b.job.Name), strings.Compare(a.job.Kind.Kind, b.job.Kind.Kind))
	})
}

// sizeText returns the accelerators of a job: "2x8 gpu" for two pods with 8 GPUs each, "24
// gpu" where pods differ, and the number of pods without any.
func sizeText(r row) string {
	total := jobs.Devices(r.job)
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(total)) {
		parts = append(parts, countText(r.job, name, total[name])+" "+words.Short(name))
	}
	if len(parts) > 0 {
		return strings.Join(parts, "+")
	}
	pods := int64(0)
	for _, role := range r.job.Roles {
		pods += role.Replicas
	}
	return words.Count(int(pods), "pod", "pods")
}

// countText is pods times devices where one role alone has the device, else all devices.
func countText(j state.Job, name string, total int64) string {
	text, roles := "", 0
	for _, role := range j.Roles {
		if n := role.Requests[name]; n > 0 && role.Replicas > 0 {
			text, roles = fmt.Sprintf("%dx%d", role.Replicas, n), roles+1
		}
	}
	if roles == 1 {
		return text
	}
	return fmt.Sprint(total)
}
