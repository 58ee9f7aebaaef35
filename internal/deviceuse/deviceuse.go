// Package deviceuse tells how busy the accelerators of jobs are, from the metrics of their exporters in a Prometheus:
// dcgm-exporter (DCGM_FI_DEV_GPU_UTIL; DCGM_FI_PROF_GR_ENGINE_ACTIVE for slices of a GPU) and neuron-monitor
// (neuroncore_utilization_ratio). It is pure.
package deviceuse

import (
	"fmt"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/prometheus"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// A job is idle when its accelerators were busy for less than idleBelow of the Window, on average.
const (
	Window    = 30 * time.Minute
	idleBelow = 0.05
)

// metrics are the names of the exporters, with what their values have to be divided by. Where a device has several, the
// first counts.
var metrics = []struct {
	name string
	per  int
}{{"DCGM_FI_DEV_GPU_UTIL", 100}, {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", 1}, {"neuroncore_utilization_ratio", 1}}

// The labels that name the pod of a device, in the order in which they count. Prometheus puts "exported_" before a label of
// an exporter where it has one of its own, which then names the pod of the exporter.
var (
	podLabels       = []string{"exported_pod", "pod", "exported_pod_name", "pod_name", "k8s_pod_name"}
	namespaceLabels = []string{"exported_namespace", "namespace", "exported_pod_namespace", "pod_namespace", "k8s_namespace_name"}
)

// Sums returns the query for the busy shares of devices, added up for each pod: averages over a time. Counts is that for the
// number of the devices.
func Sums(over time.Duration) string { return query("sum", over) }

// Counts is described with Sums.
func Counts(over time.Duration) string { return query("count", over) }

func query(how string, over time.Duration) string {
	by := strings.Join(append(append([]string{}, podLabels...), namespaceLabels...), ", ")
	var parts []string
	for _, m := range metrics {
		parts = append(parts, fmt.Sprintf("%s by (%s) (avg_over_time(%s[%ds]) / %d)", how, by, m.name, int(over.Seconds()), m.per))
	}
	return strings.Join(parts, " or ")
}

// Key names a pod, or a job.
type Key struct{ Namespace, Name string }

// Use is how busy devices are.
type Use struct {
	// Devices is their number, Busy the sum of their shares: from 0 to Devices.
	Devices, Busy float64
}

// Share returns the average share, from 0 to 1.
func (u Use) Share() float64 {
	if u.Devices <= 0 {
		return 0
	}
	return min(1, max(0, u.Busy/u.Devices))
}

func (u Use) plus(o Use) Use { return Use{u.Devices + o.Devices, u.Busy + o.Busy} }

// pod returns the pod that labels name; false for a device that no pod has.
func pod(labels map[string]string) (Key, bool) {
	first := func(names []string) string {
		for _, n := range names {
			if labels[n] != "" {
				return labels[n]
			}
		}
		return ""
	}
	k := Key{first(namespaceLabels), first(podLabels)}
	return k, k.Name != "" && k.Namespace != ""
}

// ByPod joins the answers to Sums and Counts, at each time that both have.
func ByPod(sums, counts []prometheus.Series) map[time.Time]map[Key]Use {
	out := map[time.Time]map[Key]Use{}
	add := func(all []prometheus.Series, set func(u *Use, v float64)) {
		for _, s := range all {
			k, ok := pod(s.Labels)
			if !ok {
				continue
			}
			for _, p := range s.Points {
				at := out[p.Time]
				if at == nil {
					at = map[Key]Use{}
					out[p.Time] = at
				}
				u := at[k]
				set(&u, p.Value)
				at[k] = u
			}
		}
	}
	add(counts, func(u *Use, v float64) { u.Devices += v })
	add(sums, func(u *Use, v float64) { u.Busy += v })
	return out
}

// Now joins the answers to instant queries. The two may be of different seconds.
func Now(sums, counts []prometheus.Series) map[Key]Use {
	out := map[Key]Use{}
	for _, s := range sums {
		for i := range s.Points {
			s.Points[i].Time = time.Time{}
		}
	}
	for _, s := range counts {
		for i := range s.Points {
			s.Points[i].Time = time.Time{}
		}
	}
	for _, at := range ByPod(sums, counts) {
		out = at
	}
	return out
}

// JobsOf returns the job of each pod that has one, by the labels and owners of the pods. A name that a label gives may be
// longer than that of the job, so the jobs are needed.
func JobsOf(pods []state.Pod, jobs []Key) map[Key]Key {
	known := make(map[Key]bool, len(jobs))
	for _, j := range jobs {
		known[j] = true
	}
	out := map[Key]Key{}
	for _, p := range pods {
		var controller state.Owner
		for _, o := range p.Owners {
			if o.Controller {
				controller = o
			}
		}
		name, longer := kinds.JobOfPod(p.Name, p.Labels, controller.Kind, controller.Name)
		if longer && !known[Key{p.Namespace, name}] {
			name = shorter(known, p.Namespace, name)
		}
		if name != "" {
			out[Key{p.Namespace, p.Name}] = Key{p.Namespace, name}
		}
	}
	return out
}

// shorter returns the longest name of a job with which a name begins.
func shorter(known map[Key]bool, namespace, name string) string {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '-' && known[Key{namespace, name[:i]}] {
			return name[:i]
		}
	}
	return ""
}

// ByJob adds up the pods of each job.
func ByJob(pods map[Key]Use, jobOf map[Key]Key) map[Key]Use {
	out := map[Key]Use{}
	for p, u := range pods {
		if j, ok := jobOf[p]; ok && u.Devices > 0 {
			out[j] = out[j].plus(u)
		}
	}
	return out
}

// Idle reports whether a job that has run for a time does nothing with its accelerators. One that has not run for the whole
// Window is not idle yet.
func Idle(u Use, ran time.Duration) bool {
	return u.Devices > 0 && ran >= Window && u.Share() < idleBelow
}
