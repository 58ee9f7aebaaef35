package podrules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// scheduleField is a field of a CronJob's schedule: its least and its greatest number, and names of numbers.
type scheduleField struct {
	low, high int
	names     []string // of low and the numbers after it
}

// notSchedule returns why a text is not a schedule, "" if it is one, as github.com/robfig/cron has it, by which the API server
// checks schedules.
func notSchedule(s string) string {
	if strings.HasPrefix(s, "@") {
		return notDescriptor(s)
	}
	fields := []scheduleField{{high: 59}, {high: 23}, {low: 1, high: 31},
		{1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
		{0, 6, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}}
	texts := strings.Fields(s)
	if len(texts) != len(fields) {
		return "expected exactly 5 fields"
	}
	for i, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			if part == "" { // is skipped
				continue
			}
			if why := fields[i].not(part); why != "" {
				return why
			}
		}
	}
	return ""
}

func notDescriptor(s string) string {
	if slices.Contains([]string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}, s) {
		return ""
	}
	every, found := strings.CutPrefix(s, "@every ")
	if !found {
		return "unrecognized descriptor: " + s
	}
	if _, err := time.ParseDuration(every); err != nil {
		return fmt.Sprintf("failed to parse duration %s: %v", s, err)
	}
	return ""
}

// not returns why a text such as 1-5 or */2 is not in the field.
func (f scheduleField) not(part string) string {
	bounds, step, stepped := strings.Cut(part, "/")
	if strings.Contains(step, "/") {
		return "too many slashes: " + part
	}
	first, last, ranged := strings.Cut(bounds, "-")
	low, high := f.low, f.high
	if first != "*" && first != "?" {
		var why string
		if low, why = f.number(first); why != "" {
			return why
		}
		switch {
		case strings.Contains(last, "-"):
			return "too many hyphens: " + part
		case ranged:
			if high, why = f.number(last); why != "" {
				return why
			}
		case !stepped:
			high = low
		}
	}
	switch {
	case low < f.low:
		return fmt.Sprintf("beginning of range (%d) below minimum (%d): %s", low, f.low, part)
	case high > f.high:
		return fmt.Sprintf("end of range (%d) above maximum (%d): %s", high, f.high, part)
	case low > high:
		return fmt.Sprintf("beginning of range (%d) beyond end of range (%d): %s", low, high, part)
	}
	if !stepped {
		return ""
	}
	n, why := scheduleField{}.number(step)
	if why == "" && n == 0 {
		why = "step of range should be a positive number: " + part
	}
	return why
}

// number returns the number that a text is or names.
func (f scheduleField) number(text string) (int, string) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return f.low + i, ""
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, fmt.Sprintf("failed to parse int from %s: %v", text, err)
	case n < 0:
		return 0, fmt.Sprintf("negative number (%d) not allowed: %s", n, text)
	}
	return n, ""
}
