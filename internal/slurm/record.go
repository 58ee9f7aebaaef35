package slurm

import (
	"fmt"
	"strings"
)

// column is a column of the --Format of squeue or sinfo, and what it sets. Values can be texts of users, so columns
// end with a separator that the caller draws at random: a name cannot contain it.
type column[T any] struct {
	name string
	set  func(*T, string)
}

// endOfRecord follows the last separator of a record.
const endOfRecord = "."

// formatOf returns the value of --Format for columns.
func formatOf[T any](columns []column[T], separator string) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.name+":"+separator)
	}
	return strings.Join(names, ",") + endOfRecord
}

// recordsOf reads what a command printed in that format. what is the word for a record in errors. clean returns a
// value without Slurm's words for none.
func recordsOf[T any](text, separator, what string, columns []column[T], clean func(string) string) ([]T, error) {
	var out []T
	for _, record := range strings.SplitAfter(text, separator+endOfRecord+"\n") {
		if record == "" {
			continue
		}
		values := strings.Split(record, separator)
		if len(values) != len(columns)+1 {
			return nil, fmt.Errorf("%d fields of a %s, want %d", len(values)-1, what, len(columns))
		}
		var r T
		for i, c := range columns {
			c.set(&r, clean(values[i]))
		}
		out = append(out, r)
	}
	return out, nil
}
