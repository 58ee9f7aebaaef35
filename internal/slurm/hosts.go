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
	var x hosts
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
		x.add(list[:end])
		list = strings.TrimPrefix(list[end:], ",")
	}
	return x.names
}

// hosts are the names that a list has so far.
type hosts struct {
	names []string
	tried int // ranges can lead to no name
}

// add adds the names of one item, whose first brackets are expanded first.
func (x *hosts) add(item string) {
	prefix, rest, ok := strings.Cut(item, "[")
	ranges, suffix, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		if item != "" && len(x.names) < mostHosts {
			x.names = append(x.names, item)
		}
		return
	}
	for _, r := range strings.Split(ranges, ",") {
		low, high, isRange := strings.Cut(r, "-")
		from, err := strconv.Atoi(low)
		to := from
		if isRange && err == nil {
			to, err = strconv.Atoi(high)
		}
		if err != nil || from < 0 || len(low) > 20 { // more digits than a number has
			continue
		}
		for n := from; n <= to && x.tried < 2*mostHosts; n++ {
			x.tried++
			x.add(fmt.Sprintf("%s%0*d%s", prefix, len(low), n, suffix))
		}
	}
}
