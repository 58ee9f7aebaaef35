package quota

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Unlimited is an infinite amount: a limit that is not set, or a quota beyond 64 bits. Sums with it stay unlimited, as
// in Kueue's Amount.
const Unlimited int64 = math.MaxInt64

// AmountOf returns a quantity in the unit of state.Amounts, rounded up.
func AmountOf(resourceName string, q resource.Quantity) int64 {
	most := maxWhole
	if resourceName == cpu {
		most = maxCores
	}
	if q.Cmp(most) >= 0 {
		return Unlimited
	}
	if resourceName == cpu {
		return q.MilliValue()
	}
	return q.Value()
}

// QuantityOf returns the quantity of an amount that is not Unlimited.
func QuantityOf(resourceName string, n int64) resource.Quantity {
	if resourceName == cpu {
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	}
	return *resource.NewQuantity(n, resource.DecimalSI)
}

const cpu = "cpu"

// From these on an amount does not fit in 64 bits (Kueue's AmountFromQuantity).
var (
	maxCores = *resource.NewQuantity(math.MaxInt64/1000, resource.DecimalSI)
	maxWhole = *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)
)

// add saturates at both ends and keeps Unlimited.
func add(a, b int64) int64 {
	switch {
	case a == Unlimited || b == Unlimited:
		return Unlimited
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// Times returns an amount that is not negative, n times; beyond 64 bits it is Unlimited.
func Times(a int64, n int32) int64 {
	if n > 0 && a > math.MaxInt64/int64(n) {
		return Unlimited
	}
	return a * int64(n)
}

// sub saturates; Unlimited less anything finite is Unlimited, less itself zero.
func sub(a, b int64) int64 {
	switch {
	case a == Unlimited && b == Unlimited:
		return 0
	case a == Unlimited:
		return Unlimited
	case b == Unlimited:
		return math.MinInt64
	case b < 0 && a > math.MaxInt64+b:
		return math.MaxInt64
	case b > 0 && a < math.MinInt64+b:
		return math.MinInt64
	}
	return a - b
}

// split divides amount among parts in proportion to their weights, in whole
// units: each gets its share rounded down, and what is left goes one by one to
// the largest remainders, the first part first among equal ones. No part gets
// more than its weight as long as the amount is not more than their sum; amounts
// and weights are not negative.
func split(amount int64, weights []int64) []int64 {
	out := make([]int64, len(weights))
	sum, shift := sumOf(weights)
	if amount <= 0 || sum == 0 {
		return out
	}
	remainders := make([]uint64, len(weights))
	left := amount
	for i, w := range weights {
		high, low := bits.Mul64(uint64(amount), uint64(w)>>shift)
		share, rest := bits.Div64(high, low, sum)
		out[i], remainders[i] = int64(share), rest
		left -= out[i]
	}
	if left == 0 {
		return out
	}
	order := make([]int, len(out))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(remainders[j], remainders[i]) })
	for _, i := range order[:left] {
		out[i]++
	}
	return out
}

// sumOf adds weights up. Where 64 bits are too few for that (several unlimited
// ones), it is the sum of weights shifted to the right.
func sumOf(weights []int64) (sum uint64, shift int) {
	for i := 0; i < len(weights); i++ {
		more, carry := bits.Add64(sum, uint64(weights[i])>>shift, 0)
		if sum = more; carry != 0 {
			sum, shift, i = 0, bits.Len(uint(len(weights))), -1
		}
	}
	return sum, shift
}
