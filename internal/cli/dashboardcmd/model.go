package dashboardcmd

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// The least size of the screen, and how often it looks for changes and lets ages advance.
const (
	leastWidth  = 40
	leastHeight = 8
	pace        = 100 * time.Millisecond
	idle        = 10 * time.Second
)

// tick is the message to look for changes.
type tick time.Time

// loaded is the message with the pods of a node.
type loaded struct {
	view dashboardview.View
	err  error
}

// sorting is how the rows of a tab are sorted: by a column, counted from 1; 0 is the order of the tab.
type sorting struct {
	column     int
	descending bool
}

// returned is the message after a command has run.
type returned struct{ err error }

// source tells what is known now; changed reports a difference from the last call.
type source interface {
	take(now time.Time) (s *dashboardview.Snapshot, changed bool)
}

// model is the state of the screen.
type model struct {
	source   source
	io       output.IO // what the terminal can do
	now      func() time.Time
	user     string
	readOnly bool
	// run returns the command that runs a command line of this program on the terminal.
	run func(args ...string) tea.Cmd

	snapshot *dashboardview.Snapshot
	drawn    time.Time
	// text is the last screen; same says that it would be the same now.
	text   string
	same   bool
	tab    dashboardview.Tab
	views  map[dashboardview.Tab]dashboardview.View // filtered
	cursor map[dashboardview.Tab]int
	filter string
	sorted map[dashboardview.Tab]sorting
	// pods loads the pods of a node; page is what is shown of them until a key is pressed, nil is nothing.
	pods func(node string) tea.Cmd
	page *dashboardview.View
	// chosen is the row of the cursor; the cursor follows it when rows move.
	chosen map[dashboardview.Tab]dashboardview.Ref
	// asked is the command line that a y runs; nil is none.
	asked []string
	// prompt is the kind of text that is typed: '/', ':' or 'P'; 0 is none.
	prompt  rune
	typed   string
	help    bool
	message string
	failure error
}

func newModel() *model {
	return &model{views: map[dashboardview.Tab]dashboardview.View{}, cursor: map[dashboardview.Tab]int{}, chosen: map[dashboardview.Tab]dashboardview.Ref{}, sorted: map[dashboardview.Tab]sorting{}}
}

// Init starts looking for changes.
func (m *model) Init() tea.Cmd { return next() }

func next() tea.Cmd { return tea.Tick(pace, func(t time.Time) tea.Msg { return tick(t) }) }

// Update takes a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, ticked := msg.(tick)
	m.same = m.same && ticked
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.io.Width, m.io.Height = msg.Width, msg.Height
	case tick:
		return m, m.look()
	case returned:
		if msg.err != nil {
			m.message = "the command failed"
		}
	case loaded:
		m.message, m.page = "", &msg.view
		if msg.err != nil {
			m.message, m.page = output.Safe("cannot list the pods: "+msg.err.Error()), nil
		}
	case tea.KeyPressMsg:
		cmd := m.key(msg)
		if m.snapshot != nil {
			if refs := m.view().Refs; len(refs) > 0 {
				m.chosen[m.tab] = refs[m.cursor[m.tab]]
			}
		}
		return m, cmd
	}
	return m, nil
}

// look takes what has changed.
func (m *model) look() tea.Cmd {
	now := m.now()
	s, changed := m.source.take(now)
	if s == nil {
		return next()
	}
	if s.Failure != nil {
		m.failure = s.Failure
		return tea.Quit
	}
	if changed || now.Sub(m.drawn) >= idle {
		m.snapshot, m.drawn, m.same = s, now, false
		clear(m.views)
	} else if m.snapshot != nil {
		m.same = m.same && m.snapshot.Age(now) == s.Age(now) && s.Age(now) == ""
		m.snapshot.LostSince, m.snapshot.LostBy, m.snapshot.Stale = s.LostSince, s.LostBy, s.Stale
	}
	return next()
}

// view returns the filtered view of the tab.
func (m *model) view() dashboardview.View {
	v, ok := m.views[m.tab]
	if !ok {
		v = dashboardview.Of(m.snapshot, m.tab, m.user).Filter(m.filter)
		if s := m.sorted[m.tab]; s.column > 0 {
			v = v.Sort(s.column-1, s.descending)
		}
		for i, shares := range v.Sparks {
			v.Table.Rows[i] = slices.Clone(v.Table.Rows[i])
			v.Table.Rows[i][len(v.Table.Rows[i])-1].Text = dashboardview.Spark(shares, m.io.UTF8)
		}
		m.views[m.tab] = v
		if at := slices.Index(v.Refs, m.chosen[m.tab]); at >= 0 {
			m.cursor[m.tab] = at
		}
	}
	m.cursor[m.tab] = min(max(0, m.cursor[m.tab]), max(0, len(v.Refs)-1))
	return v
}

// rows returns how many rows of a table the screen has.
func (m *model) rows() int { return max(1, m.io.Height-5) }

// View draws the screen.
func (m *model) View() tea.View {
	if !m.same { // a long table is laid out only when it has changed
		m.text, m.same = m.screen(), true
	}
	v := tea.NewView(m.text)
	v.AltScreen, v.WindowTitle = true, "hyperpod dashboard"
	return v
}

func (m *model) screen() string {
	switch {
	case m.io.Width == 0:
		return ""
	case m.io.Width < leastWidth || m.io.Height < leastHeight:
		return cut(fmt.Sprintf("needs %dx%d", leastWidth, leastHeight), m.io.Width)
	case m.help:
		return m.helpText()
	}
	var b strings.Builder
	b.WriteString(m.tabs() + "\n")
	if m.snapshot == nil {
		b.WriteString("\nreading the cluster\n")
		return b.String()
	}
	v := m.view()
	if m.page != nil {
		v = *m.page
	}
	b.WriteString(cut(v.Summary, m.io.Width) + "\n")
	b.WriteString(m.io.Paint(output.Dim, cut(m.snapshot.Note(), m.io.Width)) + "\n")
	header, rows := m.table(v)
	b.WriteString("  " + header + "\n")
	at, room := m.cursor[m.tab], m.rows()
	if m.page != nil {
		at = 0
	}
	first := max(0, min(at-room/2, len(rows)-room))
	for i := first; i < min(len(rows), first+room); i++ {
		mark := "  "
		if i == at {
			mark = "> "
			rows[i] = m.io.Paint(output.Strong, rows[i])
		}
		b.WriteString(mark + rows[i] + "\n")
	}
	if len(rows) == 0 {
		b.WriteString("  " + m.empty(v) + "\n")
	}
	for i := min(len(rows), room); i < room; i++ {
		if i > 0 || len(rows) > 0 {
			b.WriteString("\n")
		}
	}
	b.WriteString(m.foot(len(rows)))
	return b.String()
}

func (m *model) empty(v dashboardview.View) string {
	if m.filter != "" {
		return "no row has " + output.Safe(m.filter)
	}
	return v.Table.Empty
}

// tabs returns the line of titles.
func (m *model) tabs() string {
	var parts []string
	for i, name := range dashboardview.Names() {
		text := fmt.Sprintf("%d %s", i+1, name)
		if m.io.Width < 60 {
			text = name[:4]
		}
		if dashboardview.Tab(i) == m.tab {
			text = m.io.Paint(output.Strong, "["+text+"]")
		} else {
			text = " " + text + " "
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// table renders a table: the titles, and a line for each row.
func (m *model) table(v dashboardview.View) (header string, rows []string) {
	if len(v.Table.Rows) == 0 {
		return "", nil
	}
	var b bytes.Buffer
	io := m.io
	io.Out, io.OutTTY, io.Width, io.Height = &b, true, m.io.Width-2, 0
	if err := io.PrintTable(v.Table); err != nil {
		return err.Error(), nil
	}
	lines := strings.Split(b.String(), "\n")
	return lines[0], lines[1:min(len(lines), 1+len(v.Table.Rows))]
}

// foot returns the last line: what is typed, a message, or the state of the connection and the keys.
func (m *model) foot(rows int) string {
	old, text := m.snapshot.Age(m.now()), ""
	switch {
	case m.asked != nil:
		verb := "Cancel"
		if m.asked[0] == "patch-job" {
			verb = map[string]string{"suspend": "Suspend", "unsuspend": "Resume"}[m.asked[1]]
		}
		return m.io.Paint(output.Warn, cut(fmt.Sprintf("%s %s/%s? [y/N]", verb, output.Safe(m.asked[len(m.asked)-1]), output.Safe(m.asked[len(m.asked)-3])), m.io.Width))
	case m.prompt == 'P':
		text = "priority class: " + output.Safe(m.typed) + "_"
	case m.prompt != 0:
		text = string(m.prompt) + output.Safe(m.typed) + "_"
	case old != "":
		return m.io.Paint(output.Bad, cut(old, m.io.Width))
	case m.message != "":
		text = m.message
	case m.page != nil:
		text = "any key closes this list"
	default:
		text = fmt.Sprintf("%s  / filter  : command  ? help  q quit", cmp.Or(words.Count(rows, "row", "rows"), ""))
		if m.filter != "" {
			text = "filter " + output.Safe(m.filter) + " (Esc clears)  " + text
		}
		if s := m.sorted[m.tab]; s.column > 0 {
			text = "by " + m.view().Table.Columns[s.column-1].Title + "  " + text
		}
		if m.readOnly {
			text += "  read-only"
		}
	}
	return m.io.Paint(output.Dim, cut(text, m.io.Width))
}

// cut shortens a text to the width of the screen.
func cut(text string, width int) string {
	if r := []rune(text); len(r) > width {
		return string(r[:max(0, width)])
	}
	return text
}

func (m *model) helpText() string {
	lines := []string{"Keys", "", "1-4, Tab       tabs", "up, down, j, k rows; PgUp, PgDn, Home, End", "/ TEXT         only rows with the text; !TEXT: only the others; Esc clears",
		": NAME         go to a tab; :sort COLUMN; :q quits", "o  O           sort by the next column; turn the order", "Enter          explain the job; the queue of a team; the pods of a node", "d  l  p        details, log and pods of the job"}
	if !m.readOnly {
		lines = append(lines, "s  u           suspend, unsuspend the job", "P              change its priority class", "c              cancel it")
	}
	lines = append(lines, "q, Ctrl-C      quit", "", "any key closes this page")
	for i := range lines {
		lines[i] = cut(lines[i], m.io.Width)
	}
	return strings.Join(lines[:min(len(lines), m.io.Height)], "\n")
}
