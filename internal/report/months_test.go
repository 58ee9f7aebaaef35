package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMonths(t *testing.T) {
	one, two := 1.0, 2.0
	three := 3.0
	day := func(date string, used float64, cost *float64) DayRow {
		return DayRow{Date: date, Hours: Hours{Amounts{"nvidia.com/gpu": used}, Amounts{}, Amounts{}}, Cost: cost}
	}
	got := Months([]DayRow{day("2025-12-31", 4, nil), day("2026-01-01", 8, &one), day("2026-01-02", 16, &two)})
	want := []DayRow{day("2025-12", 4, nil), day("2026-01", 24, &three)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Months(nil); len(got) != 0 {
		t.Errorf("months of no days: %v", got)
	}
}
