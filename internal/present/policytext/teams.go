package policytext

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

// ownFields stands for amounts that only Kueue's own fields can express.
const ownFields = "see kueue"

// own reports whether Kueue's own fields replace a team's quota and limits.
func own(t policy.Team) bool { return t.Kueue != nil && t.Kueue.Spec["resourceGroups"] != nil }

// Quota returns what is reserved for a team: "2 ml.p5.48xlarge, 4 accelerators of ml.g5.12xlarge".
func Quota(t policy.Team) string {
	if own(t) {
		return ownFields
	}
	return quotas(t.Quota)
}

func quotas(list []policy.Quota) string {
	var out []string
	for _, q := range list {
		var amounts []string
		add := func(amount, unit string) { amounts = append(amounts, strings.TrimSpace(amount+" "+unit)) }
		number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
		if q.Count != nil {
			add(strconv.Itoa(*q.Count), "")
		}
		if q.AcceleratorPartition != nil {
			add(strconv.Itoa(q.AcceleratorPartition.Count), q.AcceleratorPartition.Type)
		}
		if q.Accelerators != nil {
			add(strconv.Itoa(*q.Accelerators), "accelerators")
		}
		if q.VCPU != nil {
			add(number(*q.VCPU), "vCPU")
		}
		if q.MemoryInGiB != nil {
			add(number(*q.MemoryInGiB), "GiB")
		}
		text := strings.Join(amounts, " + ")
		if q.Count == nil || len(amounts) > 1 {
			text += " of"
		}
		out = append(out, strings.TrimSpace(text+" "+q.InstanceType))
	}
	return cmp.Or(strings.Join(out, ", "), "-")
}

// Borrowing returns the most that a team may borrow.
func Borrowing(t policy.Team) string {
	switch {
	case own(t):
		return ownFields
	case len(t.AbsoluteBorrowLimits) > 0:
		return quotas(t.AbsoluteBorrowLimits)
	case t.Shares() != policy.LendAndBorrow:
		return "-"
	}
	return strconv.Itoa(t.Percent()) + "%"
}
