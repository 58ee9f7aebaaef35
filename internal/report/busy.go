package report

import (
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/deviceuse"
	"github.com/hyperpod-cli/hyperpod/internal/history"
)

// hourOf is a job in an hour.
type hourOf struct {
	uid  string
	hour time.Time
}

// measured finds how busy the accelerators of jobs were in each hour. The pods of a past job are gone. Operators begin the
// names of pods with that of the job, so a pod belongs to the job that had quota in the hour and has the longest fitting
// name.
func (b *builder) measured() map[hourOf]deviceuse.Use {
	if len(b.o.Busy) == 0 {
		return nil
	}
	jobs := map[deviceuse.Key][]*history.Track{}
	for _, t := range b.d.Jobs {
		k := deviceuse.Key{Namespace: t.Namespace, Name: t.Name}
		jobs[k] = append(jobs[k], t)
	}
	out := map[hourOf]deviceuse.Use{}
	for hour, pods := range b.o.Busy {
		for pod, use := range pods {
			for name := pod.Name; name != ""; name = name[:max(0, strings.LastIndexByte(name, '-'))] {
				t := b.holder(jobs[deviceuse.Key{Namespace: pod.Namespace, Name: name}], hour)
				if t == nil {
					continue
				}
				k := hourOf{t.UID, hour}
				sum := out[k]
				out[k] = deviceuse.Use{Devices: sum.Devices + use.Devices, Busy: sum.Busy + use.Busy}
				break
			}
		}
	}
	return out
}

// holder returns the last of several jobs of a name that had quota in an hour, nil for none.
func (b *builder) holder(jobs []*history.Track, hour time.Time) *history.Track {
	for i := len(jobs) - 1; i >= 0; i-- {
		for n, c := range jobs[i].Changes {
			end := b.d.Until
			if n+1 < len(jobs[i].Changes) {
				end = jobs[i].Changes[n+1].Time
			}
			if c.Phase == history.Holding && c.Time.Before(hour.Add(time.Hour)) && end.After(hour) {
				return jobs[i]
			}
		}
	}
	return nil
}
