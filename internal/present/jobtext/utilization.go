package jobtext

import (
	"fmt"
	"math"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/deviceuse"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Share returns how busy accelerators are: "45 %", "-" where that is not known.
func Share(u *deviceuse.Use) string {
	if u == nil {
		return "-"
	}
	return fmt.Sprintf("%d %%", int(math.Round(100*u.Share())))
}

// Utilization is Share in a sentence, for a job that has run for a time; "" where that is unknown.
func Utilization(u *deviceuse.Use, ran time.Duration) string {
	if u == nil {
		return ""
	}
	text := Share(u) + " of the last " + words.Age(min(ran, deviceuse.Window))
	if deviceuse.Idle(*u, ran) {
		text += ": allocated but idle"
	}
	return text
}
