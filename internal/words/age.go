package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Age writes a duration in at most two units, the second one only while it
// matters: 45s, 5m30s, 20m, 3h12m, 17h, 2d4h, 45d, 1y20d. Below zero (clocks
// differ) it is 0s.
func Age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 10*time.Minute:
		return units(d, time.Minute, "m", time.Second, "s")
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 10*time.Hour:
		return units(d, time.Hour, "h", time.Minute, "m")
	case d < day:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 10*day:
		return units(d, day, "d", time.Hour, "h")
	case d < 365*day:
		return fmt.Sprintf("%dd", d/day)
	}
	return units(d, 365*day, "y", day, "d")
}

// units writes d in a large and a small unit, without a small one of zero.
func units(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	rest := d % large / small
	if rest == 0 {
		return fmt.Sprintf("%d%s", d/large, largeName)
	}
	return fmt.Sprintf("%d%s%d%s", d/large, largeName, rest, smallName)
}

// Since returns the Age of a moment, or "-" for the zero time.
func Since(now, then time.Time) string {
	if then.IsZero() {
		return "-"
	}
	return Age(now.Sub(then))
}

// mostDays bounds a duration in days, so that it is representable: 100 years.
const mostDays = 36_500

// ParseDuration reads a duration as people write it: what time.ParseDuration reads, with
// days before it (7d, 1d12h). ok is false for anything else and for less than zero.
func ParseDuration(text string) (total time.Duration, ok bool) {
	if days, rest, found := strings.Cut(text, "d"); found {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > mostDays {
			return 0, false
		}
		if total = time.Duration(n) * day; rest == "" {
			return total, true
		}
		text = rest
	}
	d, err := time.ParseDuration(text)
	return total + d, err == nil && d >= 0 && total+d >= 0
}

// Exact writes a duration as it is typed, without units at its end that are 0: 1h, 1h30m, 1h0m10s.
func Exact(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = strings.TrimSuffix(text, zero) + zero[:1]
		}
	}
	return text
}
