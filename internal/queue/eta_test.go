package queue

import "testing"

// TestETAOfNow: a task that can start now has an upper end, 0; one of which none is
// known has null.
func TestETAOfNow(t *testing.T) {
	now := Item{ETA: &ETA{Known: true}}
	if e := now.json().ETA; e.Earliest == nil || e.Latest == nil || *e.Latest != 0 {
		t.Errorf("now: %+v", e)
	}
	open := Item{ETA: &ETA{Known: true, Open: true}}
	if e := open.json().ETA; e.Earliest == nil || e.Latest != nil {
		t.Errorf("no upper end: %+v", e)
	}
}
