package slurm

import (
	"fmt"
	"strconv"
	"strings"
)

// mostHosts bounds a list of hosts: ranges are short to write.
const mostHosts = 1 << 16

// Hosts returns the names in a list of Slurm, such as gpu-[1-2,7],head.
func Hosts(list string) []string {
	var out []string
	for list != "" {
		end, depth := 0, 0
		for end < len(list) && (list[end] != ',' || depth > 0) {
			switch list[end] {
			case '[':
				depth++
			case ']':
				depth--
			}
			end++
		}
		out = appendHosts(out, list[:end])
		list = strings.TrimPrefix(list[end:], ",")
	}
	return out
}

// appendHosts adds the names of one item, whose first brackets are expanded first.
func appendHosts(out []string, item string) []string {
	prefix, rest, ok := strings.Cut(item, "[")
	ranges, suffix, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		if item != "" && len(out) < mostHosts {
			out = append(out, item)
		}
		return out
	}
	for _, r := range strings.Split(ranges, ",") {
		low, high, isRange := strings.Cut(r, "-")
		from, err := strconv.Atoi(low)
		to := from
		if isRange && err == nil {
			to, err = strconv.Atoi(high)
		}
		if err != nil || from < 0 {
			continue
		}
		for n := from; n <= to && len(out) < mostHosts; n++ {
			out = appendHosts(out, fmt.Sprintf("%s%0*d%s", prefix, len(low), n, suffix))
		}
	}
	return out
}
