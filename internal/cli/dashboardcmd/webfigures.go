package dashboardcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
)

// message is what the page gets: everything first, then what changed.
type message struct {
	Time    int64        `json:"time"` // in milliseconds
	Cluster string       `json:"cluster"`
	Lost    string       `json:"lost,omitempty"`
	Note    string       `json:"note,omitempty"`
	Tabs    []tabMessage `json:"tabs"`
}

// tabMessage is a tab, or what changed of it. Without Keys the rows and their order are the same.
type tabMessage struct {
	Index    int                        `json:"index"`
	Name     string                     `json:"name"`
	Summary  string                     `json:"summary"`
	Empty    string                     `json:"empty,omitempty"`
	Columns  []columnMessage            `json:"columns"`
	Bars     []string                   `json:"bars,omitempty"`
	Commands []string                   `json:"commands,omitempty"`
	Whole    bool                       `json:"whole,omitempty"`
	Keys     []string                   `json:"keys,omitempty"`
	Rows     map[string]json.RawMessage `json:"rows,omitempty"`
}

type columnMessage struct {
	Title string `json:"title"`
	Right bool   `json:"right,omitempty"`
	Plain bool   `json:"plain,omitempty"` // cannot be sorted
	Yield bool   `json:"yield,omitempty"` // left out where the page is narrow
}

type cellMessage struct {
	Text  string  `json:"x,omitempty"`
	Style int     `json:"s,omitempty"`
	Bar   []int64 `json:"b,omitempty"`
	// Spark are shares over time, from 0 to 1.
	Spark []float64 `json:"p,omitempty"`
}

// sent is what a page knows.
type sent struct {
	tabs map[int]tabMessage // with all rows
	head string
}

// since returns the message for a page that knows what was sent; false where nothing changed. It notes what is sent.
func (s *sent) since(w *web, snap *dashboardview.Snapshot, now time.Time) (message, bool) {
	m := message{Time: snap.Time.UnixMilli(), Cluster: output.Safe(w.cluster), Lost: snap.Age(now), Note: output.Safe(snap.Note())}
	for i := range dashboardview.Names() {
		next := tabOf(snap, dashboardview.Tab(i), w.user)
		before, known := s.tabs[i]
		s.tabs[i] = next
		diff, keys := next, next.Keys
		diff.Whole = !known
		if known {
			diff.Rows = map[string]json.RawMessage{}
			for k, row := range next.Rows {
				if !bytes.Equal(row, before.Rows[k]) {
					diff.Rows[k] = row
				}
			}
			if slices.Equal(before.Keys, keys) {
				diff.Keys = nil
			} else if len(keys) == 0 {
				diff.Whole = true
			}
			if len(diff.Rows) == 0 && diff.Keys == nil && !diff.Whole && next.Summary == before.Summary {
				continue
			}
		}
		m.Tabs = append(m.Tabs, diff)
	}
	head := m.Lost + "\n" + m.Note
	same := s.head == head && len(m.Tabs) == 0
	s.head = head
	if m.Tabs == nil {
		m.Tabs = []tabMessage{}
	}
	return m, !same
}

// tabOf returns a tab with all rows.
func tabOf(snap *dashboardview.Snapshot, tab dashboardview.Tab, user string) tabMessage {
	v := dashboardview.Of(snap, tab, user)
	out := tabMessage{Index: int(tab), Name: dashboardview.Names()[tab], Summary: output.Safe(v.Summary), Empty: output.Safe(v.Table.Empty), Bars: v.Bars, Commands: commandsOf(tab), Rows: make(map[string]json.RawMessage, len(v.Table.Rows)), Keys: make([]string, 0, len(v.Table.Rows))}
	for i, c := range v.Table.Columns {
		out.Columns = append(out.Columns, columnMessage{Title: output.Safe(c.Title), Right: c.Right, Plain: c.Bar || v.Sparks != nil && i == len(v.Table.Columns)-1, Yield: c.Yield > 1})
	}
	keys := rowKeys(v.Refs)
	for i, row := range v.Table.Rows {
		cells := make([]cellMessage, len(row))
		for j, c := range row {
			cells[j] = cellMessage{Text: output.Safe(c.Text), Style: int(c.Style)}
			if b := c.Bar; b != nil {
				cells[j] = cellMessage{Bar: []int64{b.Full, b.Shaded, b.Light, b.Dotted, b.Alarm, b.Whole}}
			}
		}
		if v.Sparks != nil {
			cells[len(cells)-1].Spark = v.Sparks[i]
		}
		data, err := json.Marshal(cells)
		if err != nil {
			continue
		}
		out.Keys, out.Rows[keys[i]] = append(out.Keys, keys[i]), data
	}
	return out
}

// rowKeys returns the keys of rows. Jobs of several kinds can have one name: a number follows the key of all but the first.
func rowKeys(refs []dashboardview.Ref) []string {
	out, seen := make([]string, len(refs)), make(map[string]bool, len(refs))
	for i, r := range refs {
		key := r.Namespace + "/" + r.Name
		for n := 2; seen[key]; n++ {
			key = r.Namespace + "/" + r.Name + "#" + strconv.Itoa(n)
		}
		out[i], seen[key] = key, true
	}
	return out
}

// commandsOf returns the commands that show more of a row; they change nothing.
func commandsOf(tab dashboardview.Tab) []string {
	switch tab {
	case dashboardview.Tasks:
		return []string{"explain-job", "get-job", "list-pods", "get-log"}
	case dashboardview.Teams:
		return []string{"get-queue"}
	}
	return nil
}

// events sends the figures, and then each change, as server-sent events.
func (w *web) events(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	full := w.streams >= mostStreams
	if !full {
		w.streams++
	}
	w.mu.Unlock()
	if full {
		http.Error(rw, fmt.Sprintf("%d pages are open already", mostStreams), http.StatusServiceUnavailable)
		return
	}
	defer func() { w.mu.Lock(); w.streams--; w.mu.Unlock() }()
	rw.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	ctx, control := r.Context(), http.NewResponseController(rw)
	known := &sent{tabs: map[int]tabMessage{}}
	for {
		snap, changed := w.feed.look(w.now())
		beat := w.after(idle)
		if snap != nil && snap.Failure == nil {
			text := []byte(":\n\n") // shows that the page is still there
			if m, news := known.since(w, snap, w.now()); news {
				data, err := json.Marshal(m)
				if err != nil {
					return
				}
				text = slices.Concat([]byte("data: "), data, []byte("\n\n"))
			}
			// A page that does not read for this long has gone.
			_ = control.SetWriteDeadline(time.Now().Add(time.Minute)) // not every connection has one
			if _, err := rw.Write(text); err != nil || control.Flush() != nil {
				return
			}
			select { // changes come in bursts
			case <-ctx.Done():
				return
			case <-w.after(pace):
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-beat:
		}
	}
}

// details prints what a command shows of a row. The row has to be one of those that the user can see.
func (w *web) details(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	q := r.URL.Query()
	snap, _ := w.feed.look(w.now())
	tab, err := strconv.Atoi(q.Get("tab"))
	command := q.Get("command")
	if err != nil || snap == nil || snap.Failure != nil || tab < 0 || tab >= len(dashboardview.Names()) || !slices.Contains(commandsOf(dashboardview.Tab(tab)), command) {
		http.Error(rw, "not a row of the dashboard", http.StatusBadRequest)
		return
	}
	refs := dashboardview.Of(snap, dashboardview.Tab(tab), w.user).Refs
	at := slices.Index(rowKeys(refs), q.Get("row"))
	if at < 0 {
		http.Error(rw, "the row is gone", http.StatusNotFound)
		return
	}
	args := []string{command}
	if refs[at].Namespace != "" {
		args = append(args, "-n", refs[at].Namespace)
	}
	if refs[at].Kind != "" {
		args = append(args, "--kind", refs[at].Kind)
	}
	if command == "get-log" {
		args = append(args, "--tail", "200")
	} else {
		args = append(args, "-o", "table")
	}
	args = append(args, "--", refs[at].Name)
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	_, _ = rw.Write([]byte(w.show(ctx, args...))) // the browser went away
}
