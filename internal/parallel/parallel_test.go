package parallel_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/parallel"
)

func TestMap(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1000} {
		var list, want []int
		for i := range n {
			list, want = append(list, i), append(want, i*i)
		}
		got, err := parallel.Map(list, func(i int) (int, error) { return i * i, nil })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d: %v, %v", n, got, err)
		}
	}
}

// TestMapError: of several errors it is that of the first element, every time.
func TestMapError(t *testing.T) {
	list := make([]int, 1000)
	for i := range list {
		list[i] = i
	}
	for range 20 {
		_, err := parallel.Map(list, func(i int) (int, error) {
			if i%100 == 7 {
				return 0, fmt.Errorf("%d", i)
			}
			return i, nil
		})
		if err == nil || err.Error() != "7" {
			t.Fatal(err)
		}
	}
	last := errors.New("last")
	if _, err := parallel.Map(list, func(i int) (int, error) {
		if i == 999 {
			return 0, last
		}
		return i, nil
	}); err != last {
		t.Error(err)
	}
}

// TestInOrder: each result is used once, in order; an error ends it, after the results before it.
func TestInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1000} {
		var list, want, got []int
		for i := range n {
			list, want = append(list, i), append(want, i*i)
		}
		err := parallel.InOrder(list, func(i int) (int, error) { return i * i, nil }, func(i, r int) {
			if i != len(got) {
				t.Errorf("%d after %d", i, len(got))
			}
			got = append(got, r)
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d: %v, %v", n, got, err)
		}
		wrong, used := errors.New("wrong"), 0
		if err := parallel.InOrder(list, func(i int) (int, error) {
			if i >= n/2 {
				return 0, fmt.Errorf("%d: %w", i, wrong)
			}
			return i, nil
		}, func(int, int) { used++ }); n > 0 && (!errors.Is(err, wrong) || err.Error() != fmt.Sprintf("%d: wrong", n/2) || used != n/2) {
			t.Error(n, err, used)
		}
	}
}
