package report

// Months returns a row for each calendar month (UTC) of a list of days. The date of a row is like 2026-01.
func Months(days []DayRow) []DayRow {
	var out []DayRow
	for _, day := range days {
		month := day.Date[:len("2026-01")]
		if len(out) == 0 || out[len(out)-1].Date != month {
			out = append(out, DayRow{Date: month, Hours: newHours()})
		}
		sum := &out[len(out)-1]
		for _, a := range []struct{ to, more Amounts }{{sum.Used, day.Used}, {sum.Borrowed, day.Borrowed}, {sum.Waited, day.Waited}} {
			for resource, n := range a.more {
				a.to[resource] += n
			}
		}
		sum.Cost = plus(sum.Cost, day.Cost)
	}
	return out
}
