package history

import "testing"

// TestNumbersOfJobs: a job whose number leaves a gap is damage, and so is a change of a job that the segment has not named.
func TestNumbersOfJobs(t *testing.T) {
	begin, err := header{Format: Format, Cluster: "c"}.encode()
	if err != nil {
		t.Fatal(err)
	}
	job := func(id int) jobLine { return jobLine{id, Job{UID: "u", Name: "j"}} }
	for _, tt := range []struct {
		name string
		l    line
		good bool
	}{
		{"in order", line{Time: 1, Jobs: []jobLine{job(0), job(1), job(0), job(2)}, Changes: []changeLine{{ID: 2}}}, true},
		{"a gap", line{Time: 1, Jobs: []jobLine{job(0), job(2)}}, false},
		{"far away", line{Time: 1, Jobs: []jobLine{job(1 << 24)}}, false},
		{"negative", line{Time: 1, Jobs: []jobLine{job(-1)}}, false},
		{"not named", line{Time: 1, Jobs: []jobLine{job(0)}, Changes: []changeLine{{ID: 1}}}, false},
	} {
		s, err := parse("", append(begin[:len(begin):len(begin)], tt.l.encode()...))
		if err != nil {
			t.Fatal(err)
		}
		if s.whole != tt.good || (len(s.lines) == 1) != tt.good {
			t.Errorf("%s: whole %v, %d lines", tt.name, s.whole, len(s.lines))
		}
	}
}
