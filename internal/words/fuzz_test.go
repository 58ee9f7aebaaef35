package words

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzMessages: messages come from a server. What is taken from one is a part of it, and
// texts that are cut stay valid.
func FuzzMessages(f *testing.F) {
	f.Add("couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor ml.p5.48xlarge, 4 more needed", "ml.p5.48xlarge", 20)
	f.Add("insufficient quota for cpu in flavor a, request > maximum capacity (2)", "a", 0)
	f.Add("Preempted to accommodate a workload (UID: 1, JobUID: 2) due to reclamation within the cohort; preemptor path: /a/b; preemptee path: /c", "\xff", -1)
	f.Add("1h2m3s", "", 3)
	f.Fuzz(func(t *testing.T, message, flavor string, most int) {
		for _, s := range Shortages(message) {
			for _, part := range []string{s.Resource, s.Flavor, s.Missing, s.Most} {
				if !strings.Contains(message, part) {
					t.Errorf("%q is not in %q", part, message)
				}
			}
		}
		RulesOut(message, flavor)
		if r := Uncovered(message); !strings.Contains(message, r) {
			t.Errorf("%q", r)
		}
		if !strings.HasSuffix(message, WithoutPodSet(message)) {
			t.Errorf("%q", WithoutPodSet(message))
		}
		PreemptionIn(message)
		PlainPreemption(message)
		_ = PreemptionReason(message)
		if strings.ContainsAny(OneLine(message), "\n\r\t") {
			t.Errorf("%q has several lines", OneLine(message))
		}
		if utf8.ValidString(message) && most >= 0 && most < 1000 && (!utf8.ValidString(Clip(message, most)) || !utf8.ValidString(Cut(message, most))) {
			t.Errorf("%q cut at %d is %q and %q", message, most, Clip(message, most), Cut(message, most))
		}
		if d, ok := ParseDuration(message); ok && d < 0 {
			t.Errorf("%q is %s", message, d)
		}
	})
}
