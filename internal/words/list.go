package words

import (
	"fmt"
	"strings"
)

// Some lists names in a sentence. If there are more than most + 1 of them, it lists the first most
// and counts the others: "a, b and 3 more".
func Some(names []string, most int) string { return SomeOf(names, len(names), most) }

// SomeOf is [Some] where only the first of total names are known.
func SomeOf(names []string, total, most int) string {
	if total <= most+1 && total <= len(names) {
		return strings.Join(names, ", ")
	}
	most = min(most, len(names))
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), total-most)
}
